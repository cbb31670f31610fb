import Synchronization
import TestSupport
import Testing

@testable import AttributionQueue

/// The order of messages that anybody can send: only verified messages take part in it.
@Suite struct ProofBeforeOrderTests {
  private static func rejected(_ lease: LeasedMessage) -> WorkOutcome {
    let id = "r-\(lease.deliveryID)"
    return .complete(Completion(state: .rejected, events: [EventRecord(id: id, type: "t.r", json: Array("{}".utf8))], reason: "forged"))
  }

  private static func name(_ lease: LeasedMessage) -> String { lease.message.attributes["natural"] ?? "" }

  /// A gate that can be opened once.
  private final class Gate: Sendable {
    private let state = Mutex(false)
    var isOpen: Bool { state.withLock { $0 } }
    func open() { state.withLock { $0 = true } }
    func passed() async {
      while !isOpen, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
    }
  }

  private func accept(_ queue: DeliveryQueue, _ names: [String], order: String = "x") async throws {
    for name in names { _ = try await queue.accept(request(name, order: order, keepsOrder: true)) }
  }

  private func events(_ queue: DeliveryQueue) async throws -> [String] { try await queue.allEvents().filter { $0.hasPrefix("e-") } }

  private func lines(_ queue: DeliveryQueue) async throws -> Int { try await queue.send(["KEYS", "*:line:*"]).array?.count ?? 0 }

  @Test func `Forgeries that name an order key are settled without waiting, while genuine messages wait for the first`() async throws {
    try await withQueue { queue, _ in
      let gate = Gate()
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        let name = Self.name(lease)
        if name.hasPrefix("forged") { return Self.rejected(lease) }
        return .inOrder { name == "a" && !gate.isOpen ? .retry(after: .milliseconds(20), error: "not yet") : .complete(verified(name)) }
      }
      try await queue.working(handler: handler) {
        try await accept(queue, ["a", "b"])
        try await accept(queue, (0..<200).map { "forged \($0)" })
        try await accept(queue, ["c"])
        try await accept(queue, (200..<210).map { "forged \($0)" })
        try await eventually("the forgeries are settled") { try await queue.allEvents().count { $0.hasPrefix("r-") } == 210 }
        try await eventually("the others wait") {
          let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
          return snapshot.depth + snapshot.delayed == 3
        }
        #expect(try await events(queue).isEmpty)
        #expect(try await lines(queue) == 1)
        gate.open()
        try await eventually("the genuine ones are worked") { try await events(queue).count == 3 }
      }
      #expect(try await events(queue) == ["e-a", "e-b", "e-c"])
      #expect(try await lines(queue) == 0)
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).delayed == 0)
    }
  }

  @Test func `Accepting adds no message to an order line, and messages that are read together are settled together`() async throws {
    try await withQueue { queue, server in
      let names = (0..<20).map { "n\($0)" }
      try await accept(queue, names)
      #expect(try await lines(queue) == 0)
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 20)
      let outcomes = Mutex<[String]>([])
      let worker = ShardWorker(
        queue: .intake, deliveries: queue, pace: .computing,
        observe: { if case .processed(let outcome, _, _, _) = $0 { outcomes.withLock { $0.append(outcome) } } },
        handler: { lease in .inOrder { .complete(verified(Self.name(lease))) } })
      let run = Task { await worker.run() }
      try await eventually("all are worked") { outcomes.withLock { $0.count } == 20 }
      worker.stop()
      await run.value
      #expect(try await events(queue) == names.map { "e-" + $0 })
      #expect(outcomes.withLock { $0 }.allSatisfy { $0 == "verified" })
      #expect(try await lines(queue) == 0)
    }
  }

  @Test(arguments: [true, false]) func `A dead letter lets the next message pass, and goes behind unfinished ones when it is replayed`(
    afterProof: Bool
  ) async throws {
    try await withQueue { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = afterProof }
      let administration = QueueAdministration(deliveries: queue)
      let gate = Gate()
      let dies = Mutex(true)
      try await queue.working(handler: { lease in
        let name = Self.name(lease)
        return .inOrder {
          if name == "a", dies.withLock({ $0 }) { return .deadLetter(error: "no") }
          return name == "b" && !gate.isOpen ? .wait(.milliseconds(10)) : .complete(verified(name))
        }
      }) {
        try await accept(queue, ["a", "b", "c"])
        try await eventually("the first is dead and the second is delayed") {
          let snapshot = try await administration.snapshot(.intake)
          return snapshot.dead == 1 && snapshot.delayed == 2
        }
        dies.withLock { $0 = false }
        #expect(try await administration.replay(.intake, ids: []) == 1)
        // The stream's owner may not have been notified.
        _ = try await queue.accept(request("other", order: "x"))
        try await eventually("it waits too") { try await administration.snapshot(.intake).delayed == 3 }
        gate.open()
        try await eventually("all are worked") { try await events(queue).count == 4 }
      }
      #expect(try await events(queue).filter { $0 != "e-other" } == ["e-b", "e-c", "e-a"])
      #expect(try await lines(queue) == 0)
    }
  }

  @Test func `Messages that an older build added to their order line at acceptance keep their position`() async throws {
    try await withQueue { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = false }
      try await accept(queue, ["a", "forged", "b"])
      // A message of another order key, alone in its order line.
      try await accept(queue, ["alone"], order: "y")
      #expect(try await lines(queue) == 2)
      queue.linesEnteredWhenVerified.withLock { $0 = true }
      try await accept(queue, ["c", "d"])
      let attempts = Mutex(0)
      try await queue.working(handler: { lease in
        let name = Self.name(lease)
        if name == "forged" { return Self.rejected(lease) }
        return .inOrder {
          guard name == "a" else { return .complete(verified(name)) }
          let attempt = attempts.withLock { attempts in
            attempts += 1
            return attempts
          }
          if attempt < 3 { return .retry(after: .milliseconds(5), error: "again") }
          return .complete(verified(name))
        }
      }) {
        try await eventually("all are worked") { try await queue.allEvents().count == 6 }
      }
      #expect(try await events(queue).filter { $0 != "e-alone" } == ["e-a", "e-b", "e-c", "e-d"])
      #expect(try await lines(queue) == 0)
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).delayed == 0)
    }
  }

  @Test func `After a worker dies, the next one keeps the order`() async throws {
    try await withQueue({ $0.workerTimeout = .milliseconds(300) }) { queue, _ in
      try await accept(queue, ["a", "b", "c"])
      let shard = queue.deliveryID(for: request("a", order: "x")).shard
      // It delays the first message, leaves the second waiting, and dies when it begins the third.
      let began = Mutex(false)
      let dying = ShardWorker(queue: .intake, deliveries: queue, pace: .waiting(shards: 256)) { lease in
        guard Self.name(lease) == "c" else { return .inOrder { .retry(after: .milliseconds(200), error: "later") } }
        began.withLock { $0 = true }
        try? await Task.sleep(for: .seconds(3600))
        return .giveBack
      }
      let run = Task { await dying.run() }
      try await eventually("it begins the third") { began.withLock { $0 } }
      let before = try await ShardOwnership.read(.intake, shard, queue)
      _ = try await before.take(.intake, shard, for: "ghost", isAbandoned: true, queue)
      run.cancel()
      await run.value
      try await accept(queue, ["d"])
      try await queue.working(handler: { lease in .inOrder { .complete(verified(Self.name(lease))) } }) {
        try await eventually("all are worked") { try await events(queue).count == 4 }
      }
      #expect(try await events(queue) == ["e-a", "e-b", "e-c", "e-d"])
      #expect(try await lines(queue) == 0)
    }
  }

  @Test func `A deferred message is delayed immediately, blocks only its order key, and is due when its work has ended`()
    async throws
  {
    try await withQueue { queue, _ in
      let answer = Gate()
      let asked = Mutex(0)
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        let name = Self.name(lease)
        guard name.hasPrefix("slow"), !answer.isOpen else { return .inOrder { .complete(verified(name)) } }
        return .inOrder {
          .deferred(atMost: .seconds(3600)) {
            asked.withLock { $0 += 1 }
            await answer.passed()
          }
        }
      }
      try await queue.working(handler: handler) {
        try await accept(queue, ["slow 1", "behind"])
        // In the same shard, one message keeps no order, and the others have other order keys.
        let shard = queue.deliveryID(for: request("slow 1", order: "x")).shard
        var others: [String] = []
        var number = 0
        while others.count < 2 {
          number += 1
          if queue.deliveryID(for: request("", order: "y\(number)")).shard == shard { others.append("y\(number)") }
        }
        _ = try await queue.accept(request("free", order: "x"))
        for other in others { try await accept(queue, ["one of \(other)", "two of \(other)"], order: other) }
        let quick = try #require(others.first)
        try await eventually("the others are worked") { try await events(queue).count == 5 }
        try await eventually("the question is asked") { asked.withLock { $0 } == 1 }
        #expect(try await !events(queue).contains("e-slow 1"))
        #expect(try await !events(queue).contains("e-behind"))
        #expect(try await events(queue).contains("e-two of \(quick)"))
        answer.open()
        try await eventually("it is worked too") { try await events(queue).count == 7 }
      }
      #expect(try await events(queue).filter { ["e-slow 1", "e-behind"].contains($0) } == ["e-slow 1", "e-behind"])
      #expect(asked.withLock { $0 } == 1)
      #expect(try await queue.delivery(queue.deliveryID(for: request("slow 1", order: "x")))?.attempts == 1)
    }
  }

  @Test func `A deferred message becomes due by its own delay if its work is not finished`() async throws {
    try await withQueue { queue, _ in
      let isFirst = Mutex(true)
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        guard
          isFirst.withLock({ first in
            defer { first = false }
            return first
          })
        else { return .inOrder { .complete(verified(Self.name(lease))) } }
        return .deferred(atMost: .seconds(4)) { try? await Task.sleep(for: .seconds(3600)) }
      }
      _ = try await queue.accept(request("a"))
      try await queue.working(handler: handler) {
        try await eventually("it is deferred") { try await QueueAdministration(deliveries: queue).snapshot(.intake).delayed == 1 }
      }
      try await queue.working(handler: handler) {
        try await eventually("it is worked") { try await events(queue) == ["e-a"] }
      }
    }
  }

  @Test(arguments: [true, false])
  func `Each order line keeps its order and each message is counted once, whatever delays and crashes occur`(
    afterProof: Bool
  ) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    try await withQueue({
      $0.workerTimeout = .milliseconds(400)
      $0.maxDeliveries = 1000
      $0.maxAttempts = 1000
      $0.backoffBase = .milliseconds(2)
      $0.backoffCap = .milliseconds(20)
    }) { queue, server in
      var random = SeededRandom(seed: seed)
      // Messages of older builds enter their order line when they are accepted. In the second half they are mixed with later ones.
      queue.linesEnteredWhenVerified.withLock { $0 = afterProof }
      var expected: [String: [String]] = [:]
      var forged = 0
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        let name = Self.name(lease)
        if name.hasPrefix("forged") { return Self.rejected(lease) }
        return .inOrder {
          switch Int.random(in: 0..<12) {
          case 0: .retry(after: nil, error: "again")
          case 1: .wait(.milliseconds(.random(in: 0...20)))
          case 2: .giveBack
          case 3: .deferred(atMost: .milliseconds(50)) { try? await Task.sleep(for: .milliseconds(.random(in: 0...60))) }
          default: .complete(verified(name))
          }
        }
      }
      for round in 0..<6 {
        if round == 3 { queue.linesEnteredWhenVerified.withLock { $0 = true } }
        let workers = (0..<2).map { _ in
          ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
        }
        let runs = workers.map { worker in Task { await worker.run() } }
        for index in 0..<80 {
          let key = "k\(Int.random(in: 0..<5, using: &random))"
          let isForged = Int.random(in: 0..<4, using: &random) == 0
          let name = "\(isForged ? "forged " : "")\(key)-\(round)-\(index)"
          _ = try await queue.accept(request(name, order: key, keepsOrder: true))
          if isForged { forged += 1 } else { expected[key, default: []].append("e-" + name) }
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
        for (worker, run) in zip(workers, runs) {
          if Bool.random(using: &random) { worker.stop() } else { run.cancel() }
          await run.value
        }
        // A worker that dies.
        if Bool.random(using: &random) {
          for shard in Shard.all {
            let known = try await ShardOwnership.read(.intake, shard, queue)
            _ = try await known.take(.intake, shard, for: "ghost", isAbandoned: false, queue)
          }
        }
      }
      let count = expected.values.reduce(0) { $0 + $1.count }
      try await queue.working(handler: handler) {
        try await eventually("all are worked") { try await queue.allEvents().count >= count + forged }
      }
      let found = try await events(queue)
      for (key, order) in expected { #expect(found.filter { $0.hasPrefix("e-\(key)-") } == order, "seed \(seed): \(key)") }
      #expect(found.count == count, "seed \(seed)")
      #expect(try await queue.allEvents().count == count + forged, "seed \(seed)")
      #expect(try await lines(queue) == 0, "seed \(seed)")
      let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
      #expect(snapshot.depth + snapshot.delayed + snapshot.dead == 0, "seed \(seed)")
    }
  }
}
