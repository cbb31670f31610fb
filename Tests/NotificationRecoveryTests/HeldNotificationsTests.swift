import AppStore
import AttributionQueue
import RedisTestSupport
import Testing

@testable import notification_recovery

@Suite("Notifications that a recovery holds back")
struct HeldNotificationsTests {
  private static let urgency = RecoveryUrgency.allCases[0]

  private static func ids(_ numbers: ClosedRange<Int>) throws -> [DeliveryID] {
    try numbers.map { number in
      let digits = String(number, radix: 16)
      return try #require(DeliveryID("007-" + String(repeating: "0", count: 32 - digits.count) + digits))
    }
  }

  private func withHeld(_ body: (HeldNotifications) async throws -> Void) async throws {
    try await withRedis { redis, _ in try await body(HeldNotifications(redis: redis, recoveryId: "r", bundleId: "com.example")) }
  }

  @Test("ids stay listed until they were released, so that the next leader releases them")
  func listed() async throws {
    try await withHeld { held in
      let ids = try Self.ids(1...5)
      try await held.add(ids, Self.urgency)
      let entries = try await held.next(Self.urgency)
      #expect(entries.ids == ids)
      #expect(try await held.next(Self.urgency).ids == ids)
      try await held.remove(entries, Self.urgency)
      #expect(try await held.next(Self.urgency).isEmpty)
    }
  }

  @Test("a removal that is repeated because its reply was lost removes nothing else, even after others were added")
  func repeated() async throws {
    try await withHeld { held in
      try await held.add(try Self.ids(1...HeldNotifications.batch + 3), Self.urgency)
      let first = try await held.next(Self.urgency)
      #expect(first.ids.count == HeldNotifications.batch)
      for _ in 0..<2 { try await held.remove(first, Self.urgency) }
      let later = try Self.ids(5000...5001)
      try await held.add(later, Self.urgency)
      try await held.remove(first, Self.urgency)
      let end = try Self.ids(HeldNotifications.batch + 1...HeldNotifications.batch + 3)
      #expect(try await held.next(Self.urgency).ids == end + later)
    }
  }

  @Test("an entry that is no id does not stop the release of the others")
  func unreadable() async throws {
    try await withHeld { held in
      try await held.add(try Self.ids(1...1), Self.urgency)
      let key = try #require(try await held.redis.send(["KEYS", "*held*"]).array?.first?.string)
      try await held.redis.send(["LPUSH", .string(key), "by hand"])
      let entries = try await held.next(Self.urgency)
      #expect(entries.ids == (try Self.ids(1...1)))
      try await held.remove(entries, Self.urgency)
      #expect(try await held.next(Self.urgency).isEmpty)
    }
  }

  @Test("an id that was listed twice, by two leaders, is removed twice")
  func twice() async throws {
    try await withHeld { held in
      let ids = try Self.ids(1...2)
      for _ in 0..<2 { try await held.add(ids, Self.urgency) }
      try await held.remove(try await held.next(Self.urgency), Self.urgency)
      #expect(try await held.next(Self.urgency).isEmpty)
    }
  }
}
