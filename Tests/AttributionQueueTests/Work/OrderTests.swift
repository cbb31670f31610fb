import Cryptography
import RedisClient
import TestSupport
import Testing

@testable import AttributionQueue

@Suite struct OrderTests {
  @Test func `A message that entered its order line when accepted is processed after all earlier ones, including their retries`()
    async throws
  {
    try await withQueue { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = false }
      let administration = QueueAdministration(deliveries: queue)
      for name in ["a", "b", "c"] { _ = try await queue.accept(request(name, order: "x", keepsOrder: true)) }
      // Messages of another order key, and those that keep no order, are not blocked.
      _ = try await queue.accept(request("other", order: "x2", keepsOrder: true))
      _ = try await queue.accept(request("free", order: "x"))
      func lease() async throws -> [String: LeasedMessage] {
        Dictionary(uniqueKeysWithValues: try await queue.leaseAll("w").map { ($0.message.attributes["natural"] ?? "", $0) })
      }
      let first = try await lease()
      #expect(Set(first.keys) == ["a", "other", "free"])
      #expect(try await administration.snapshot(.intake).delayed == 2)
      // Delayed for a retry, given back, or taken over from a dead worker, it remains the first.
      try await queue.retry(try #require(first["a"]), after: .zero, error: "x")
      #expect(try await lease().isEmpty)
      let poller = DelayedPoller(queue: .intake, deliveries: queue, blocking: queue.redis)
      _ = try await poller.queryDue()
      let again = try #require(try await lease()["a"])
      #expect(again.attempt == 2)
      try await queue.release(again)
      let returned = try await lease()
      #expect(Set(returned.keys) == ["a"])
      let all = try await queue.reclaimAll("v")
      let taken = try #require(all.first { $0.message.attributes["natural"] == "a" })
      let other = try #require(all.first { $0.message.attributes["natural"] == "other" })
      await #expect(throws: QueueError.leaseLost) { try await queue.complete(try #require(returned["a"]), verified("a")) }
      #expect(try await lease().isEmpty)
      #expect(try await !queue.expedite(queue.deliveryID(for: request("b", order: "x")), in: .intake))
      // When it is finished, the next one is ready. A dead letter counts as finished.
      try await queue.complete(taken, verified("a"))
      let second = try await lease()
      #expect(Set(second.keys) == ["b"])
      try await queue.deadLetter(try #require(second["b"]), error: "no")
      let third = try await lease()
      #expect(Set(third.keys) == ["c"])
      // A replayed dead letter goes behind unfinished messages.
      #expect(try await administration.replay(.intake, ids: []) == 1)
      #expect(try await lease().isEmpty)
      try await queue.complete(try #require(third["c"]), verified("c"))
      let last = try await lease()
      #expect(Set(last.keys) == ["b"])
      try await queue.complete(try #require(last["b"]), verified("b"))
      // An empty order line leaves no data.
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.count == 1)
      try await queue.complete(other, verified("other"))
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
    }
  }

  @Test(arguments: [true, false]) func `Messages that wait in an order line count towards the backlog limit`(afterProof: Bool) async throws
  {
    try await withQueue({ $0.backlogBound = 3 * 256 }) { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = afterProof }
      for index in 0..<3 { _ = try await queue.accept(request("m\(index)", order: "x", keepsOrder: true)) }
      await #expect(throws: QueueError.backlogFull) { try await queue.accept(request("m3", order: "x", keepsOrder: true)) }
    }
  }

  @Test(arguments: [StoreForm.leased, .owned])
  func `Order within a key holds across several workers that retry, die and take over`(form: StoreForm) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    try await withQueue({
      $0.lease = .milliseconds(250)
      $0.maxDeliveries = 1000
      $0.maxAttempts = 1000
      $0.backoffBase = .milliseconds(2)
      $0.backoffCap = .milliseconds(20)
    }) { queue, server in
      var random = SeededRandom(seed: seed)
      var expected: [String: [String]] = [:]
      try await FormSwitchTests.set(form, queue)
      let other = try await DeliveryQueue.open(
        redis: try await server.client(), configuration: queue.configuration, logger: quietLogger)
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        .inOrder {
          let natural = lease.message.attributes["natural"] ?? ""
          switch (Int(lease.message.body.reduce(0) { $0 &+ $1 }) + lease.attempt) % 4 {
          case 0: return .retry(after: nil, error: "again")
          case 1:
            try? await Task.sleep(for: .milliseconds(3))
            return .complete(verified(natural))
          default: return .complete(verified(natural))
          }
        }
      }
      for round in 0..<5 {
        for index in 0..<60 {
          let key = "k\(Int.random(in: 0..<5, using: &random))"
          let natural = "\(key)-\(round)-\(index)"
          _ = try await queue.accept(request(natural, order: key, keepsOrder: true))
          expected[key, default: []].append("e-" + natural)
        }
        // A worker that leases all ready messages and dies. In the owned form there are no leases.
        if form == .leased, Bool.random(using: &random) { _ = try await queue.leaseAll("dead-\(round)") }
        try await queue.working(handler: handler) {
          try await other.working(handler: handler) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...150, using: &random)))
          }
        }
      }
      let count = expected.values.reduce(0) { $0 + $1.count }
      try await queue.working(handler: handler) {
        try await other.working(handler: handler) {
          try await eventually("all are worked") { try await queue.allEvents().count >= count }
        }
      }
      let events = try await queue.allEvents()
      for (key, order) in expected {
        #expect(events.filter { $0.hasPrefix("e-\(key)-") } == order, "seed \(seed): \(key)")
      }
      #expect(events.count == count, "seed \(seed)")
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
      other.redis.close()
    }
  }

  @Test func `While nothing is due Redis is not queried, and due messages reach any remaining poller`() async throws {
    try await withQueue { queue, server in
      let client = try await server.client()
      let worked = Recorder()
      try await queue.working(handler: { lease in
        await worked.add(lease.message.attributes["natural"] ?? "")
        return .complete(verified(lease.message.attributes["natural"] ?? ""))
      }) {
        let due = DeliveryQueue.now + 4000
        _ = try await queue.accept(request("late", notBefore: due))
        // A second poller waits for the same message and ends before it is due.
        let other = ShardWorker(queue: .intake, deliveries: queue, pace: .random()) { _ in .retry(after: nil, error: "not me") }
        let run = Task { await other.run() }
        try await Task.sleep(for: .milliseconds(900))
        other.stop()
        await run.value
        try await client.send(["CONFIG", "RESETSTAT"])
        try await client.send(["CONFIG", "SET", "slowlog-max-len", "100000"])
        try await client.send(["SLOWLOG", "RESET"])
        try await client.send(["CONFIG", "SET", "slowlog-log-slower-than", "0"])
        let isWatched = DeliveryQueue.now < due
        try await Task.sleep(for: .milliseconds(max(0, due - DeliveryQueue.now - 300)))
        let searches = try await Self.searches(client)
        #expect(DeliveryQueue.now >= due || searches == 0)
        try await eventually("it comes") { await worked.all == ["late"] }
        #expect(DeliveryQueue.now >= due)
        let found = try await Self.searches(client)
        #expect(!isWatched || found > 0)
      }
      client.close()
    }
  }

  /// The number of calls of the scripts that search for due messages.
  private static func searches(_ client: RedisClient) async throws -> Int {
    let names = [PackageResources.promote_lua, PackageResources.due_lua].map { Hex.encode(SHA1Digest.hash($0)) }
    return (try await client.send(["SLOWLOG", "GET", "-1"]).array ?? []).filter { entry in
      let words = (entry.array?[3].array ?? []).compactMap(\.string)
      return words.count > 1 && names.contains(words[1])
    }.count
  }
}
