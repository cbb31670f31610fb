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

  @Test("ids stay listed until they were released, so that the next leader releases them")
  func listed() async throws {
    try await withRedis { redis, _ in
      let held = HeldNotifications(redis: redis, recoveryId: "r", bundleId: "com.example")
      let ids = try Self.ids(1...5)
      try await held.add(ids, Self.urgency)
      #expect(try await held.next(Self.urgency) == ids)
      #expect(try await held.next(Self.urgency) == ids)
      try await held.remove(ids, Self.urgency)
      #expect(try await held.next(Self.urgency).isEmpty)
    }
  }

  @Test("a removal that is repeated because its reply was lost removes nothing else, even after others were added")
  func repeated() async throws {
    try await withRedis { redis, _ in
      let held = HeldNotifications(redis: redis, recoveryId: "r", bundleId: "com.example")
      try await held.add(try Self.ids(1...HeldNotifications.batch + 3), Self.urgency)
      let first = try await held.next(Self.urgency)
      #expect(first.count == HeldNotifications.batch)
      for _ in 0..<2 { try await held.remove(first, Self.urgency) }
      let later = try Self.ids(5000...5001)
      try await held.add(later, Self.urgency)
      try await held.remove(first, Self.urgency)
      let end = try Self.ids(HeldNotifications.batch + 1...HeldNotifications.batch + 3)
      #expect(try await held.next(Self.urgency) == end + later)
    }
  }

  @Test("an id that was listed twice, by two leaders, is removed twice")
  func twice() async throws {
    try await withRedis { redis, _ in
      let held = HeldNotifications(redis: redis, recoveryId: "r", bundleId: "com.example")
      let ids = try Self.ids(1...2)
      for _ in 0..<2 { try await held.add(ids, Self.urgency) }
      try await held.remove(try await held.next(Self.urgency), Self.urgency)
      #expect(try await held.next(Self.urgency).isEmpty)
    }
  }
}
