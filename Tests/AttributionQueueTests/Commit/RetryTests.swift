import RedisClient
import Synchronization
import TestSupport
import Testing

@testable import AttributionQueue

@Suite struct RetryTests {
  @Test func `A retry becomes due after its delay, not before, and keeps its history`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      let times = Recorder()
      let started = ContinuousClock.now
      try await queue.working(handler: { lease in
        if lease.attempt == 1 { return .retry(after: .milliseconds(700), error: "busy") }
        await times.add(lease.history)
        return .complete(verified("a"))
      }) {
        try await eventually("the retry comes") { await times.all.count == 1 }
      }
      let elapsed = started.duration(to: .now)
      #expect(elapsed >= .milliseconds(700))
      #expect(await times.all.first?.contains("busy") == true)
      let record = try await queue.delivery(queue.deliveryID(for: request("a")))
      #expect(record?.attempts == 2)
      #expect(record?.lastError == "busy")
    }
  }

  @Test func `A message that is not first in its order line waits, and no attempt is counted`() async throws {
    try await withQueue({ $0.maxAttempts = 2 }) { queue, _ in
      let id = try await queue.accept(request("a")).id
      let seen = Recorder()
      try await queue.working(handler: { lease in
        await seen.add("\(lease.attempt) \(lease.history)")
        switch await seen.all.count {
        case ...4: return .wait(.milliseconds(60))
        case 5: return .retry(after: nil, error: "busy")
        case 6...8: return .wait(.milliseconds(60))
        default: return .complete(verified("a"))
        }
      }) {
        try await eventually("it is worked") { try await queue.delivery(id)?.state == .verified }
      }
      let all = await seen.all
      #expect(all.prefix(5) == Array(repeating: "1 ", count: 5)[...])
      #expect(all.count == 9 && all.dropFirst(5).allSatisfy { $0.hasPrefix("2 ") && $0.contains("busy") && $0.count < 40 })
      #expect(Set(all.dropFirst(5)).count == 1)
    }
  }

  @Test func `A waiting message becomes due after its time, not before`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      let lease = try #require(try await queue.leaseAll("w").first)
      let before = DeliveryQueue.now
      #expect(try await queue.settle(lease, .wait(.seconds(60))) == "waiting")
      let scores = try await queue.send(["ZRANGE", .string(Keys.delayed(.intake, lease.shard)), "0", "-1", "WITHSCORES"])
      #expect((scores.array?.last?.string.flatMap { Int64($0) } ?? 0) >= before + 60_000)
      await #expect(throws: QueueError.leaseLost) { try await queue.settle(lease, .wait(.seconds(60))) }
    }
  }

  @Test func `A waiting message can be made due now`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(request("a", notBefore: DeliveryQueue.now + 3_600_000)).id
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).delayed == 1)
      try await queue.working(handler: { _ in .complete(verified("a")) }) {
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await queue.allEvents().isEmpty)
        #expect(try await queue.expedite(id, in: .intake))
        try await eventually("it is worked") { try await queue.allEvents() == ["e-a"] }
      }
      #expect(try await queue.expedite(id, in: .intake) == false)
    }
  }

  @Test func `Messages that are made ready come in the given order, before messages that are accepted later`() async throws {
    try await withQueue { queue, _ in
      let names = (0..<40).map { "m\($0)" }
      var ids: [DeliveryID] = []
      // They are due in the opposite order.
      for (index, name) in names.enumerated() {
        ids.append(
          try await queue.accept(request(name, order: "one", notBefore: DeliveryQueue.now + 3_600_000 - Int64(index) * 1000)).id)
      }
      #expect(try await queue.makeReady(ids, in: .intake) == 40)
      #expect(try await queue.makeReady(ids, in: .intake) == 0)
      #expect(try await queue.makeReady([], in: .intake) == 0)
      _ = try await queue.accept(request("later", order: "one"))
      #expect(try await queue.leaseAll("w").compactMap { $0.message.attributes["natural"] } == names + ["later"])
    }
  }

  @Test func `A message that waits in its order line cannot be made ready`() async throws {
    try await withQueue { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = false }
      var later: [DeliveryID] = []
      for name in ["a", "b"] {
        later.append(
          try await queue.accept(request(name, order: "one", keepsOrder: true, notBefore: DeliveryQueue.now + 3_600_000)).id)
      }
      #expect(try await queue.makeReady(later.reversed(), in: .intake) == 1)
      let lease = try #require(try await queue.leaseAll("w").first)
      #expect(lease.deliveryID == later[0])
      try await queue.complete(lease, verified("a"))
      #expect(try await queue.leaseAll("w").map(\.deliveryID) == [later[1]])
    }
  }

  @Test func `A queue with a backoff of its own does not wait for that of the others`() async throws {
    try await withQueue({
      $0.maxAttempts = 3
      $0.backoffBase = .seconds(86_400)
      $0.backoffCap = .seconds(86_400)
      $0.backoff = [.intake: Backoff(base: .milliseconds(1), cap: .milliseconds(5))]
    }) { queue, _ in
      _ = try await queue.accept(request("a"))
      let administration = QueueAdministration(deliveries: queue)
      try await queue.working(handler: { _ in .retry(after: nil, error: "no") }) {
        try await eventually("it is given up") { try await administration.snapshot(.intake).dead == 1 }
      }
    }
  }

  @Test func `After the last attempt a message is a dead letter, which can be listed, replayed and purged`() async throws {
    try await withQueue({
      $0.maxAttempts = 3
      $0.backoffBase = .milliseconds(5)
      $0.backoffCap = .milliseconds(10)
    }) { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let id = try await queue.accept(request("a")).id
      _ = try await queue.accept(request("b"))
      try await queue.working(handler: { _ in .retry(after: nil, error: "no") }) {
        try await eventually("both are given up") { try await administration.snapshot(.intake).dead == 2 }
      }
      let letters = try await administration.deadLetters(.intake, limit: 10)
      let letter = try #require(letters.first { $0.id == id })
      #expect(letter.attempts == 3)
      #expect(letter.history.count == 3)
      #expect(letter.lastError == "no")
      #expect(letter.kind == "test")
      #expect(try await queue.delivery(id)?.state == .dead)
      #expect(try await administration.deadLetters(.intake, limit: 1).count == 1)

      #expect(try await administration.replay(.intake, ids: [id]) == 1)
      #expect(try await administration.replay(.intake, ids: [id]) == 0)
      #expect(try await queue.accept(request("a")) == .duplicate(id))
      try await queue.working(handler: { .complete(verified($0.message.attributes["natural"] ?? "")) }) {
        try await eventually("the replayed one is worked") { try await queue.allEvents() == ["e-a"] }
      }
      #expect(try await queue.delivery(id)?.state == .verified)
      #expect(try await administration.purge(.intake, ids: []) == 1)
      #expect(try await administration.snapshot(.intake).dead == 0)
    }
  }

  @Test func `Dead letters of a shard are replayed and purged however many they are`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      for index in 0..<600 { _ = try await queue.accept(request("m\(index)", order: "one")) }
      for lease in try await queue.leaseAll("w") { try await queue.deadLetter(lease, error: "no") }
      #expect(try await administration.replay(.intake, ids: []) == 600)
      #expect(try await administration.snapshot(.intake).depth == 600)
      for lease in try await queue.leaseAll("w") { try await queue.deadLetter(lease, error: "no") }
      let some = Set(try await administration.deadLetters(.intake, limit: 1000).suffix(300).map(\.id))
      #expect(try await administration.purge(.intake, ids: some) == 300)
      #expect(try await administration.purge(.intake, ids: []) == 300)
    }
  }

  @Test func `A paused queue reclaims no messages either`() async throws {
    try await withQueue({ $0.lease = .milliseconds(200) }) { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      try await FormSwitchTests.set(.leased, queue)
      _ = try await queue.accept(request("a"))
      _ = try await queue.leaseAll("dead")
      try await administration.pause(.intake)
      try await queue.working(handler: { _ in .complete(verified("a")) }) {
        try await Task.sleep(for: .milliseconds(900))
        #expect(try await queue.leased() == 1)
        try await administration.resume(.intake)
        try await eventually("it is worked") { try await queue.allEvents() == ["e-a"] }
      }
    }
  }

  @Test func `A paused queue accepts messages and is processed again when resumed`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      try await administration.pause(.intake)
      _ = try await queue.accept(request("a"))
      try await queue.working(handler: { _ in .complete(verified("a")) }) {
        try await Task.sleep(for: .milliseconds(600))
        let snapshot = try await administration.snapshot(.intake)
        #expect(snapshot.paused)
        #expect(snapshot.depth == 1)
        try await administration.resume(.intake)
        try await eventually("it is worked") { try await queue.allEvents() == ["e-a"] }
      }
    }
  }

  @Test func `One query of the pause flag serves all shards`() async throws {
    try await withQueue { queue, _ in
      func asked() async throws -> Int {
        let text = try #require(try await queue.send(["INFO", "commandstats"]).string)
        guard let calls = text.firstMatch(of: /cmdstat_exists:calls=(\d+)/) else { return 0 }
        return try #require(Int(calls.1))
      }
      let administration = QueueAdministration(deliveries: queue)
      let pauseFlag = PauseFlagCache(queue: .intake, deliveries: queue, interval: .seconds(3600))
      #expect(try await !pauseFlag.isPaused())
      let before = try await asked()
      for _ in 0..<100 { #expect(try await !pauseFlag.isPaused()) }
      #expect(try await asked() == before)
      // An answer that is older than allowed is not used.
      let careful = PauseFlagCache(queue: .intake, deliveries: queue, interval: .zero, maxAge: .zero)
      #expect(try await !careful.isPaused())
      try await administration.pause(.intake)
      #expect(try await careful.isPaused())
      try await administration.resume(.intake)
      #expect(try await !careful.isPaused())
      #expect(try await asked() == before + 3)
    }
  }

  @Test func `A message that was given back is processed again without counting an attempt`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      try await queue.release(try #require(try await queue.leaseAll("w").first))
      let attempts = Recorder()
      try await queue.working(handler: { lease in
        await attempts.add("\(lease.attempt)")
        return .complete(verified("a"))
      }) {
        try await eventually("it is worked") { await attempts.all == ["1"] }
      }
    }
  }

  @Test func `Each accepted message makes exactly one event for any behaviour of workers`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    try await withQueue({
      $0.lease = .milliseconds(200)
      $0.workerTimeout = .milliseconds(200)
      $0.maxDeliveries = 1000
      $0.maxAttempts = 1000
      $0.backoffBase = .milliseconds(5)
      $0.backoffCap = .milliseconds(30)
    }) { queue, _ in
      var random = SeededRandom(seed: seed)
      var expected: Set<String> = []
      let worker: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        let natural = lease.message.attributes["natural"] ?? ""
        // The outcome depends only on the message and the attempt, so that the seed reproduces it.
        switch (Int(lease.message.body.reduce(0) { $0 &+ $1 }) + lease.attempt) % 4 {
        case 0: return .retry(after: nil, error: "again")
        case 1: return .retry(after: .milliseconds(20), error: "later")
        case 2:
          try? await Task.sleep(for: .milliseconds(5))
          return .complete(verified(natural))
        default: return .complete(verified(natural))
        }
      }
      for round in 0..<6 {
        for index in 0..<25 {
          let natural = "m\(round)-\(Int.random(in: 0...index, using: &random))"
          let copy = "\(Int.random(in: 0...1, using: &random))"
          let order = Bool.random(using: &random) ? nil : natural
          _ = try await queue.accept(request(natural, copy: copy, order: order))
          expected.insert("e-" + natural)
        }
        // A worker that takes some shards and dies.
        if Bool.random(using: &random) {
          for shard in Shard.all where shard.index % 3 == round % 3 {
            let known = try await ShardOwnership.read(.intake, shard, queue)
            _ = try await known.take(.intake, shard, for: "dead-\(round)", isAbandoned: false, queue)
          }
        }
        try await queue.working(handler: worker) {
          try await Task.sleep(for: .milliseconds(Int.random(in: 10...200, using: &random)))
        }
      }
      try await queue.working(handler: worker) {
        // A snapshot consists of several reads and may miss a message that moves meanwhile. Only several empty ones show that all is done.
        var empty = 0
        try await eventually("all are worked") {
          let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
          empty = snapshot.depth + snapshot.inFlight + snapshot.delayed == 0 ? empty + 1 : 0
          return empty == 4
        }
      }
      let events = try await queue.allEvents()
      #expect(Set(events) == expected, "seed \(seed)")
      #expect(events.count == expected.count, "seed \(seed)")
    }
  }
}
