import AppleAttribution
import RedisClient
import RedisTestSupport
import Synchronization
import Testing

@testable import ingest

@Suite("The stored status of an install")
struct SessionStoreTests {
  private struct QueueFull: Error {}

  /// The changes that were announced, in order.
  private final class Announcements: Sendable {
    private let all = Mutex<[ATTStatusChange]>([])

    func add(_ changes: [ATTStatusChange]) { all.withLock { $0 += changes } }

    var changes: [ATTStatusChange] { all.withLock { $0 } }

    /// From and to, as Apple's numbers.
    var pairs: [[Int64]] { changes.map { [$0.from.code, $0.to.code] } }
  }

  private func learn(
    _ status: ATTStatus, deviceTime: Int64? = nil, now: Int64, _ store: SessionStore,
    announce: ([ATTStatusChange]) async throws -> Void
  ) async throws -> ATTStatusRecord.Effect? {
    try await store.update(installHash: "h", announce: announce) { $0.learn(status, deviceTime: deviceTime, now: now) }.effect
  }

  @Test("a change that another request overtakes is not announced")
  func overtaken() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let announced = Announcements()
      _ = try await learn(.restricted, deviceTime: 800, now: 1000, store) { announced.add($0) }
      // This change is written and not announced, so that the next request announces it before it writes its own.
      await #expect(throws: QueueFull.self) {
        _ = try await learn(.notDetermined, deviceTime: 900, now: 1100, store) { _ in throw QueueFull() }
      }
      #expect(announced.pairs.isEmpty)
      let effect = try await learn(.denied, deviceTime: 1000, now: 3000, store) { changes in
        announced.add(changes)
        guard announced.pairs.count == 1 else { return }
        // Between the reading and the writing of this request, a newer status arrives.
        let newer = try await learn(.authorized, deviceTime: 2000, now: 2500, store) { announced.add($0) }
        #expect(newer == .changed(from: .notDetermined, to: .authorized))
      }
      #expect(effect == .older)
      #expect(announced.pairs == [[1, 0], [1, 0], [0, 3]])
      let install = try await store.install("h")
      #expect(install.record?.status == .authorized && install.unpublishedChange == nil)
    }
  }

  @Test("a change that cannot be announced applies, and is announced first by the next request")
  func later() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let announced = Announcements()
      func fail(_ changes: [ATTStatusChange]) async throws { throw QueueFull() }
      _ = try await learn(.authorized, now: 1000, store, announce: fail)
      await #expect(throws: QueueFull.self) { _ = try await learn(.denied, now: 2000, store, announce: fail) }
      #expect(try await store.install("h").record?.status == .denied)
      // A consent waits until the withdrawal is announced.
      await #expect(throws: QueueFull.self) { _ = try await learn(.authorized, now: 3000, store, announce: fail) }
      #expect(try await store.install("h").record?.status == .denied)
      let given = try await learn(.authorized, now: 4000, store) { announced.add($0) }
      #expect(given == .changed(from: .denied, to: .authorized))
      #expect(announced.pairs == [[3, 2], [2, 3]])
      _ = try await learn(.authorized, now: 5000, store) { announced.add($0) }
      #expect(announced.pairs == [[3, 2], [2, 3]])
    }
  }

  @Test("held sessions are released as soon as an answer is stored, even if the change cannot be announced")
  func released() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let releases = Mutex(0)
      func update(_ announce: ([ATTStatusChange]) async throws -> Void, _ rule: (inout ATTInstall) -> ATTInstall.Reception) async throws {
        _ = try await store.update(
          installHash: "h", announce: announce,
          whenWritten: { reception in if reception.releasesHeld { releases.withLock { $0 += 1 } } }, rule)
      }
      let session = try SessionSubmission([
        "installId": "i", "bundleId": "com.example.app", "attStatus": 0, "attConsentWaitingInterval": 60,
      ])
      try await update({ _ in }) { $0.receive(session, now: 1000) }
      #expect(try await store.install("h").isHolding && releases.withLock { $0 } == 0)
      await #expect(throws: QueueFull.self) {
        try await update({ _ in throw QueueFull() }) { $0.learn(.authorized, deviceTime: nil, now: 2000) }
      }
      #expect(releases.withLock { $0 } == 1)
      // The repeat announces the change. Nothing is left to release.
      let announced = Announcements()
      try await update({ announced.add($0) }) { $0.learn(.authorized, deviceTime: nil, now: 3000) }
      #expect(announced.pairs == [[0, 3]] && releases.withLock { $0 } == 1)
    }
  }

  @Test("a withdrawn consent applies even if the consent could not be announced either")
  func withdrawn() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let announced = Announcements()
      _ = try await learn(.denied, now: 1000, store) { announced.add($0) }
      for (status, now) in [(ATTStatus.authorized, 2000), (.denied, 3000)] as [(ATTStatus, Int64)] {
        await #expect(throws: QueueFull.self) { _ = try await learn(status, now: now, store) { _ in throw QueueFull() } }
        #expect(try await store.install("h").record?.status == status)
      }
      _ = try await learn(.denied, now: 4000, store) { announced.add($0) }
      #expect(announced.pairs == [[3, 2]])
    }
  }

  @Test("a damaged state is no consent, and the next report replaces it")
  func damaged() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let key = RedisArgument.string(SessionKeys(installHash: "h").install)
      for damage in [Array("3;1;1".utf8), [0x33, 0xFF, 0x2C], Array("x".utf8)] {
        _ = try await redis.send(["SET", key, .bytes(damage)])
        let read = try await store.install("h").record
        #expect(ConsentDecision.status(atReceipt: .authorized, heldUntil: nil, current: read) == .unavailable)
        let announced = Announcements()
        _ = try await learn(.denied, now: 1000, store) { announced.add($0) }
        #expect(announced.pairs == [[-1, 2]])
        #expect(try await store.install("h").record?.status == .denied)
      }
    }
  }

  @Test("many concurrent reports are announced as one chain that ends with the stored status")
  func chain() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let announced = Announcements()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          group.addTask {
            let status = ATTStatus(code: Int64(number % 4))
            _ = try await learn(status, deviceTime: Int64(number * 7 % 40), now: 1000, store) { announced.add($0) }
          }
        }
        try await group.waitForAll()
      }
      // A change may be announced twice; the queue's idempotency key makes it one event.
      var chain: [ATTStatusChange] = []
      for change in announced.changes where !chain.contains(change) { chain.append(change) }
      for (change, next) in zip(chain, chain.dropFirst()) { #expect(change.to == next.from) }
      let install = try await store.install("h")
      #expect(install.record?.deviceTime == 39)
      let last = try #require(chain.last)
      #expect(last.to == install.record?.status)
    }
  }
}
