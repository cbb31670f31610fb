import Foundation
import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

@Suite("Deliveries")
struct DeliveryQueueTests {
  /// Runs a worker while `body` runs.
  static func working(
    _ queue: DeliveryQueue, handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome, _ body: () async throws -> Void
  ) async throws {
    let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
    let task = Task { await worker.run() }
    do { try await body() } catch {
      worker.stop()
      await task.value
      throw error
    }
    worker.stop()
    await task.value
  }

  static let verifying: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
    .complete(.verified(lease.message.attributes["natural"] ?? ""))
  }

  @Test("a repeat of the same bytes has the same id and no second message")
  func repeats() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let first = try await queue.accept(.delivery("a", bytes: "1"))
    #expect(!first.isDuplicate)
    #expect(try await queue.accept(.delivery("a", bytes: "1")) == .duplicate(first.id))
    let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
    #expect(snapshot.depth == 1)
    #expect(DeliveryID(first.id.description) == first.id)
    #expect(try await queue.delivery(first.id)?.state == .accepted)
  }

  @Test("a forged copy that arrives first does not hide the genuine delivery, and a second genuine copy creates no second event")
  func forgedFirst() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let feed = EventFeed(deliveries: queue)
    _ = try await feed.create(name: "s", types: [], start: .beginning)
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      String(decoding: lease.message.body, as: UTF8.self).hasSuffix("forged")
        ? .complete(Completion(state: .rejected, events: [], reason: "bad_signature")) : .complete(.verified("a"))
    }
    try await Self.working(queue, handler: handler) {
      let forged = try await queue.accept(.delivery("a", bytes: "forged"))
      let genuine = try await queue.accept(.delivery("a", bytes: "genuine"))
      let copy = try await queue.accept(.delivery("a", bytes: "genuine in other white space"))
      #expect(Set([forged.id, genuine.id, copy.id]).count == 3)
      for _ in 0..<2000 where try await queue.delivery(copy.id)?.state == .accepted { try await Task.sleep(for: .milliseconds(20)) }
      #expect(try await queue.delivery(forged.id)?.state == .rejected)
      #expect(try await queue.delivery(genuine.id)?.eventId == "a")
      #expect(try await queue.delivery(copy.id)?.eventId == "a")
    }
    #expect(try await feed.drain("s") == ["a"])
    #expect(try await feed.event("a") != nil)
  }

  @Test("a retry has its attempt counted, and after the last attempt the message is a dead letter that can be replayed")
  func retries() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue {
      $0.maxAttempts = 3
      $0.backoffBase = .milliseconds(1)
    }
    let administration = QueueAdministration(deliveries: queue)
    let attempts = Mutex<[Int]>([])
    let isUpstreamBack = Mutex(false)
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      attempts.withLock { $0.append(lease.attempt) }
      return isUpstreamBack.withLock { $0 } ? .complete(.verified("a")) : .retry(after: nil, error: "upstream is away")
    }
    try await Self.working(queue, handler: handler) {
      let id = try await queue.accept(.delivery("a")).id
      for _ in 0..<500 where try await queue.delivery(id)?.state != .dead { try await Task.sleep(for: .milliseconds(20)) }
      #expect(attempts.withLock { $0 } == [1, 2, 3])
      let letters = try await administration.deadLetters(.intake, limit: 10)
      #expect(letters.map(\.id) == [id])
      #expect(letters.first?.lastError == "upstream is away")
      #expect(letters.first?.history.count == 3)
      isUpstreamBack.withLock { $0 = true }
      #expect(try await administration.replay(.intake, ids: [id]) == 1)
      for _ in 0..<500 where try await queue.delivery(id)?.state != .verified { try await Task.sleep(for: .milliseconds(20)) }
      #expect(try await queue.delivery(id)?.eventId == "a")
      #expect(try await administration.deadLetters(.intake, limit: 10).isEmpty)
      #expect(try await queue.accept(.delivery("a")).isDuplicate)
    }
  }

  @Test("a delayed message is processed when it is due, or immediately when it is expedited")
  func delayed() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let seen = Mutex<[(String, Int64)]>([])
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      let natural = lease.message.attributes["natural"] ?? ""
      seen.withLock { $0.append((natural, DeliveryQueue.now)) }
      return .complete(.verified(natural))
    }
    try await Self.working(queue, handler: handler) {
      let now = DeliveryQueue.now
      _ = try await queue.accept(.delivery("soon", notBefore: now + 2500))
      let late = try await queue.accept(.delivery("late", notBefore: now + 3_600_000)).id
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).delayed == 2)
      for _ in 0..<400 where seen.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(20)) }
      #expect(seen.withLock { $0.first?.0 } == "soon")
      #expect(seen.withLock { $0.first?.1 ?? 0 } >= now + 2500)
      #expect(try await queue.expedite(late, in: .intake))
      for _ in 0..<400 where seen.withLock({ $0.count < 2 }) { try await Task.sleep(for: .milliseconds(20)) }
      #expect(seen.withLock { $0.map(\.0) } == ["soon", "late"])
      #expect(try await queue.expedite(late, in: .intake) == false)
    }
  }

  @Test("the backlog accepts exactly its limit, and a repeat is still a duplicate")
  func backlog() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue { $0.backlogBound = 3 * 256 }
    for index in 0..<3 { #expect(try await !queue.accept(.delivery("d\(index)", order: "same")).isDuplicate) }
    await #expect(throws: QueueError.backlogFull) { try await queue.accept(.delivery("d3", order: "same")) }
    #expect(try await queue.accept(.delivery("d0", order: "same")).isDuplicate)
    // A refused delivery is not stored as a duplicate.
    try await Self.working(queue, handler: Self.verifying) {
      for _ in 0..<400 where try await QueueAdministration(deliveries: queue).snapshot(.intake).depth > 0 {
        try await Task.sleep(for: .milliseconds(20))
      }
      try await Task.sleep(for: .milliseconds(200))
      #expect(try await !queue.accept(.delivery("d3", order: "same")).isDuplicate)
    }
  }

  @Test("messages of one order key are processed in order of acceptance")
  func order() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    for index in 0..<40 { _ = try await queue.accept(.delivery("o\(index)", order: "subscription")) }
    let seen = Mutex<[String]>([])
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      let natural = lease.message.attributes["natural"] ?? ""
      try? await Task.sleep(for: .milliseconds(.random(in: 0...3)))
      seen.withLock { $0.append(natural) }
      return .complete(.verified(natural))
    }
    try await Self.working(queue, handler: handler) {
      for _ in 0..<3000 where seen.withLock({ $0.count < 40 }) { try await Task.sleep(for: .milliseconds(20)) }
    }
    #expect(seen.withLock { $0 } == (0..<40).map { "o\($0)" })
  }

  @Test("a Redis that could lose data is refused, and the error names its setting")
  func unsafeRedis() async throws {
    for (name, value) in [
      ("appendonly", "no"), ("appendfsync", "everysec"), ("maxmemory-policy", "allkeys-lru"), ("no-appendfsync-on-rewrite", "yes"),
    ] {
      let redis = try RedisServer(["--" + name, value])
      do {
        _ = try await redis.queue()
        Issue.record("\(name) was accepted")
      } catch QueueError.unsafeRedis(let text) {
        #expect(text.contains(name))
      }
      _ = try await redis.queue { $0.development = true }
    }
  }

  @Test("accepted deliveries survive a kill and restart of Redis")
  func powerCut() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let ids = try await withThrowingTaskGroup(of: DeliveryID.self) { group in
      for index in 0..<200 { group.addTask { try await queue.accept(.delivery("p\(index)")).id } }
      return try await group.reduce(into: Set<DeliveryID>()) { $0.insert($1) }
    }
    await redis.kill()
    await #expect(throws: QueueError.self) { try await queue.accept(.delivery("while away")) }
    try redis.start()
    let again = try await redis.queue()
    for index in 0..<200 { #expect(try await again.accept(.delivery("p\(index)")).isDuplicate) }
    #expect(try await QueueAdministration(deliveries: again).snapshot(.intake).depth == Int64(ids.count))
  }

  @Test("every accepted delivery is one event, whichever workers die")
  func crashes() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    let redis = try RedisServer()
    let queue = try await redis.queue {
      $0.lease = .milliseconds(200)
      $0.maxDeliveries = 1000
      $0.backoffBase = .milliseconds(1)
      $0.backoffCap = .milliseconds(20)
    }
    let feed = EventFeed(deliveries: queue)
    _ = try await feed.create(name: "s", types: [], start: .beginning)
    let dice = Mutex(SeededDice(state: seed))
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      let natural = lease.message.attributes["natural"] ?? ""
      switch dice.withLock({ $0.roll(10) }) {
      case 0: return .retry(after: nil, error: "again")
      case 1:
        // The handler blocks until the worker is cancelled, so the worker dies while it has the message.
        try? await Task.sleep(for: .seconds(60))
        return .retry(after: nil, error: "died")
      default: return .complete(.verified(natural))
      }
    }
    for index in 0..<300 { _ = try await queue.accept(.delivery("c\(index % 250)", bytes: "\(index)")) }
    for _ in 0..<4 {
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
      let task = Task { await worker.run() }
      try await Task.sleep(for: .milliseconds(700))
      task.cancel()
      await task.value
    }
    try await Self.working(queue, handler: Self.verifying) {
      // A snapshot consists of several reads and may miss a message that moves meanwhile. Only several empty ones show that all is done.
      var empty = 0
      for _ in 0..<1000 where empty < 4 {
        let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
        empty = snapshot.depth + snapshot.inFlight + snapshot.delayed == 0 ? empty + 1 : 0
        try await Task.sleep(for: .milliseconds(30))
      }
    }
    let events = try await feed.drain("s")
    #expect(Set(events).count == 250, "seed \(seed)")
    #expect(events.count == 250, "seed \(seed): an event twice")
  }
}

struct SeededDice: Sendable {
  var state: UInt64

  mutating func roll(_ sides: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % sides
  }
}
