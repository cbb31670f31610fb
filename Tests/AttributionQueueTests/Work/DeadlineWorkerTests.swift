import RedisClient
import Synchronization
import TestSupport
import Testing

@testable import AttributionQueue

@Suite struct DeadlineWorkerTests {
  /// A gate that the test opens and closes.
  final class Gate: WorkGate {
    private let isOpen: Mutex<Bool>

    init(open: Bool = true) { isOpen = Mutex(open) }

    func set(_ open: Bool) { isOpen.withLock { $0 = open } }

    func admit(_ limit: Int) async -> WorkAdmission { isOpen.withLock { $0 } ? .some(limit) : .wait(.milliseconds(5)) }
  }

  func working(
    _ queue: DeliveryQueue, _ gate: Gate = Gate(), concurrency: Int = 16,
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome, while body: () async throws -> Void
  ) async throws {
    let worker = DeadlineWorker(queue: .tokens, deliveries: queue, concurrency: concurrency, gate: gate, handler: handler)
    let run = Task { await worker.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    worker.stop()
    await run.value
    try result.get()
  }

  func token(_ name: String, deadline: Int64, notBefore: Int64? = nil) -> AcceptRequest {
    var request = request(name, notBefore: notBefore, queue: .tokens)
    request.deadline = deadline
    return request
  }

  @Test func `Messages nearest their deadline come first across all shards`() async throws {
    try await withQueue { queue, _ in
      var random = SeededRandom("deadlines")
      let now = DeliveryQueue.now
      let deadlines = (0..<300).map { _ in now + Int64.random(in: 60_000...90_000_000, using: &random) }
      for (index, deadline) in deadlines.enumerated() { _ = try await queue.accept(token("t\(index)", deadline: deadline)) }
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.tokens).depth == 300)
      let worked = Mutex<[Int64]>([])
      try await working(queue, concurrency: 1) { lease in
        worked.withLock { $0.append(lease.deadline ?? 0) }
        return .complete(Completion(state: .done, events: []))
      } while: {
        try await eventually("all are worked") { worked.withLock(\.count) == 300 }
      }
      #expect(worked.withLock { $0 } == deadlines.sorted())
    }
  }

  @Test func `The worker continues after Redis lost all data`() async throws {
    try await withQueue { queue, _ in
      let worked = Mutex<Set<DeliveryID>>([])
      try await working(queue) { lease in
        worked.withLock { _ = $0.insert(lease.deliveryID) }
        return .complete(Completion(state: .done, events: []))
      } while: {
        for name in ["before", "after"] {
          let id = try await queue.accept(token(name, deadline: DeliveryQueue.now + 60_000)).id
          try await eventually("\(name) is worked") { worked.withLock { $0.contains(id) } }
          try await queue.redis.send(["FLUSHALL"])
        }
      }
    }
  }

  @Test func `A message with a damaged deadline is completed, also after a retry, and holds up no other message`() async throws {
    try await withQueue { queue, _ in
      let damaged = ["9223372036854775807", "-9223372036854775808", "100000000000000000", "1.5", "nan", "-1", "", "tomorrow"]
      var ids: [DeliveryID] = []
      for (place, text) in damaged.enumerated() {
        let id = try await queue.accept(token("t\(place)", deadline: DeliveryQueue.now + 60_000)).id
        let payloads = RedisArgument.string(Keys.payloads(.tokens, id.shard))
        let key = RedisArgument.string(id.description)
        _ = try await queue.send(["HDEL", payloads, key])
        _ = try await queue.send(["ZREM", .string(Keys.byDeadline(.tokens, id.shard)), key])
        try await UnreadableEntryTests.put(
          ["i", key, "k", "test", "b", "x", "a", #"{"r":1,"s":"public"}"#, "r", .string(text)], id.shard, queue, .tokens)
        try await queue.schedule(.tokens).note(id.shard, due: DeliveryQueue.now)
        ids.append(id)
      }
      let turns = Mutex<[DeliveryID: Int]>([:])
      let completed = Mutex<Set<DeliveryID>>([])
      try await working(queue) { lease in
        let turn = turns.withLock { turns in
          turns[lease.deliveryID, default: 0] += 1
          return turns[lease.deliveryID, default: 0]
        }
        if turn == 1 { return .retry(after: .milliseconds(300), error: "x") }
        completed.withLock { _ = $0.insert(lease.deliveryID) }
        return .complete(Completion(state: .done, events: []))
      } while: {
        _ = try await queue.accept(token("last", deadline: DeliveryQueue.now + 60_000))
        try await eventually("each was tried once") { turns.withLock(\.count) == damaged.count + 1 }
        for id in ids { _ = try await queue.story(of: id) }
        try await eventually("all are completed") { completed.withLock { $0.count } == damaged.count + 1 }
      }
    }
  }

  @Test func `While the gate is closed, only messages past their deadline are taken`() async throws {
    try await withQueue { queue, _ in
      let gate = Gate(open: false)
      let now = DeliveryQueue.now
      for index in 0..<40 { _ = try await queue.accept(token("late\(index)", deadline: now - 1)) }
      for index in 0..<40 { _ = try await queue.accept(token("due\(index)", deadline: now + 3_600_000)) }
      let worked = Mutex<[Int64]>([])
      try await working(queue, gate) { lease in
        worked.withLock { $0.append(lease.deadline ?? 0) }
        return .complete(Completion(state: .done, events: []))
      } while: {
        try await eventually("the late ones are worked") { worked.withLock(\.count) >= 40 }
        #expect(worked.withLock { $0.allSatisfy { $0 == now - 1 } })
        gate.set(true)
        try await eventually("all are worked") { worked.withLock(\.count) == 80 }
      }
    }
  }

  @Test func `A delayed message keeps its deadline, and one given back counts no attempt`() async throws {
    try await withQueue { queue, _ in
      let deadline = DeliveryQueue.now + 3_600_000
      let id = try await queue.accept(token("a", deadline: deadline, notBefore: DeliveryQueue.now + 50)).id
      let seen = Mutex<[(attempt: Int, deadline: Int64?)]>([])
      try await working(queue) { lease in
        let count = seen.withLock { seen in
          seen.append((lease.attempt, lease.deadline))
          return seen.count
        }
        switch count {
        case 1: return .retry(after: .milliseconds(30), error: "x")
        case 2: return .giveBack
        default:
          return .complete(
            Completion(
              state: .done, events: [EventRecord(id: "e", type: "t.a", json: Array(#"{"id":"e"}"#.utf8))]))
        }
      } while: {
        try await eventually("it is worked") { try await queue.delivery(id)?.state == .done }
      }
      #expect(seen.withLock { $0.map(\.attempt) } == [1, 2, 2])
      #expect(seen.withLock { $0.allSatisfy { $0.deadline == deadline } })
      #expect(try await queue.allEvents() == ["e"])
    }
  }

  @Test func `Messages of a dead worker and replayed dead letters are processed by another worker`() async throws {
    try await withQueue({ $0.lease = .milliseconds(300) }) { queue, _ in
      for index in 0..<20 { _ = try await queue.accept(token("t\(index)", deadline: DeliveryQueue.now + 60_000)) }
      #expect(try await queue.takeAll("dead", .tokens, limit: 5).count == 20)
      let dead = Mutex(false)
      let administration = QueueAdministration(deliveries: queue)
      try await working(queue) { lease in
        let natural = lease.message.attributes["natural"] ?? ""
        if natural == "t0", dead.withLock({ !$0 }) { return .deadLetter(error: "x") }
        return .complete(
          Completion(state: .done, events: [EventRecord(id: natural, type: "t.a", json: Array(#"{"id":"\#(natural)"}"#.utf8))]))
      } while: {
        try await eventually("all but one") { try await queue.allEvents().count == 19 }
        try await eventually("the one is dead") { try await administration.snapshot(.tokens).dead == 1 }
        dead.withLock { $0 = true }
        #expect(try await administration.replay(.tokens, ids: []) == 1)
        try await eventually("all") { try await queue.allEvents().count == 20 }
      }
      #expect(Set(try await queue.allEvents()).count == 20)
      #expect(try await administration.snapshot(.tokens).inFlight == 0)
    }
  }

  @Test func `Old dead letters of a queue that is worked by deadline are deleted too`() async throws {
    try await withQueue({
      $0.deadLetterAge = .milliseconds(50)
      $0.housekeepingDelay = .milliseconds(10)
    }) { queue, _ in
      _ = try await queue.accept(token("t", deadline: DeliveryQueue.now + 60_000))
      let lease = try #require(try await queue.takeAll("a", .tokens, limit: 1).first)
      try await queue.deadLetter(lease, error: "x")
      try await Task.sleep(for: .milliseconds(100))
      let administration = QueueAdministration(deliveries: queue)
      try await working(queue) { _ in
        .giveBack
      } while: {
        try await eventually("it is gone") { try await administration.snapshot(.tokens).dead == 0 }
      }
      #expect(queue.droppedDeadLetters.count(.tokens).aged == 1)
    }
  }

  @Test func `A dead letter of an outcome has no body and cannot be replayed`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(token("t", deadline: DeliveryQueue.now + 60_000)).id
      let lease = try #require(try await queue.takeAll("a", .tokens, limit: 1).first)
      var completion = Completion(
        state: .rejected, events: [EventRecord(id: "e", type: "t.a", json: Array(#"{"id":"e"}"#.utf8))], reason: "unknown")
      completion.deadLetter = "nobody\nknows it"
      try await queue.complete(lease, completion)
      let administration = QueueAdministration(deliveries: queue)
      let letter = try #require(try await administration.deadLetters(.tokens, limit: 10).first)
      #expect(letter.id == id && letter.lastError == "nobody knows it" && letter.attempts == 1 && letter.history.count == 1)
      let kept = try await queue.send(["XRANGE", .string(Keys.dead(.tokens, id.shard)), "-", "+"]).array?.first?.array?.last
      #expect(EventFeed.fields(try #require(kept))["b"]?.bytes == [])
      #expect(try await administration.replay(.tokens, ids: []) == 0)
      #expect(try await administration.snapshot(.tokens).dead == 1)
      #expect(try await queue.delivery(id)?.state == .rejected)
      #expect(try await administration.purge(.tokens, ids: [id]) == 1)
      #expect(try await queue.allEvents() == ["e"])
    }
  }

  @Test func `The backlog limit includes messages that wait by deadline`() async throws {
    try await withQueue({ $0.backlogBound = 1 }) { queue, _ in
      func same(_ name: String, _ deadline: Int64?) -> AcceptRequest {
        var request = request(name, order: "one shard", queue: .tokens)
        request.deadline = deadline
        return request
      }
      _ = try await queue.accept(same("a", 1_900_000_000_000))
      await #expect(throws: QueueError.backlogFull) { _ = try await queue.accept(same("b", 1_900_000_000_000)) }
      await #expect(throws: QueueError.backlogFull) { _ = try await queue.accept(same("c", nil)) }
    }
  }

  @Test func `An own record is written with the event`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(token("a", deadline: DeliveryQueue.now + 60_000)).id
      let lease = try #require(try await queue.takeAll("c", .tokens, limit: 1).first)
      var completion = verified("a")
      completion.ownRecord = OwnRecord(service: "s", name: "n", value: [0, 255, 1], ttl: .seconds(100))
      try await queue.complete(lease, completion)
      let key = RedisArgument.string(Keys.own("s", "n", id.shard))
      #expect(try await queue.send(["GET", key]).bytes == [0, 255, 1])
      #expect((90...100).contains(try await queue.send(["TTL", key]).integer ?? 0))
    }
  }
}

@Suite struct DeadlineIndexTests {
  @Test func `It chooses the nearest known deadlines, and none that an unknown deadline could precede`() {
    var random = SeededRandom("deadline index")
    for _ in 0..<300 {
      var index = DeadlineIndex()
      var all: [(deadline: Int64, shard: Int)] = []
      for shard in 0..<Int.random(in: 1...8, using: &random) {
        let deadlines = (0..<Int.random(in: 0...9, using: &random)).map { _ in Int64.random(in: 0...1000, using: &random) }.sorted()
        all += deadlines.map { ($0, shard) }
        index.beginQuery(shard)
        index.update(shard, coming: Array(deadlines.prefix(4)), waiting: deadlines.count)
      }
      let limit = Int.random(in: 1...20, using: &random)
      let (chosen, latest) = index.nearest(limit)
      let count = chosen.values.reduce(0, +)
      #expect(count <= limit)
      #expect(count >= min(limit, all.count, 1))
      // Taken from the front of each shard, they are the nearest of all deadlines, known or unknown.
      let taken = chosen.flatMap { shard, count in all.filter { $0.shard == shard }.map(\.deadline).sorted().prefix(count) }
      #expect(taken.sorted() == Array(all.map(\.deadline).sorted().prefix(count)))
      #expect(taken.isEmpty || latest == taken.max())
      #expect(index.waiting == all.count)
      #expect(index.nearest == all.map(\.deadline).min())
    }
  }

  @Test func `A shard that changes during its query is queried again`() {
    var index = DeadlineIndex()
    #expect(index.stale.count == Shard.count)
    for shard in 0..<Shard.count {
      index.beginQuery(shard)
      index.update(shard, coming: [], waiting: 0)
    }
    #expect(index.stale.isEmpty)
    index.beginQuery(3)
    index.mark(3)
    index.update(3, coming: [5], waiting: 1)
    #expect(index.stale == [3])
    index.beginQuery(3)
    index.update(3, coming: [5], waiting: 1)
    #expect(index.stale.isEmpty)
    #expect(index.overdue(now: 5) == 1)
    #expect(index.overdue(now: 4) == 0)
  }
}

extension DeliveryQueue {
  /// Leases messages that wait by deadline, as a worker that dies later.
  func takeAll(_ consumer: String, _ queue: QueueName, limit: Int) async throws -> [LeasedMessage] {
    var leases: [LeasedMessage] = []
    for shard in Shard.all {
      _ = try await redis.sendAllowingErrors(
        ["XGROUP", "CREATE", .string(Keys.ready(queue, shard)), .string(Self.group), "0", "MKSTREAM"])
      let reply = try await run(
        Scripts.take, [Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.byDeadline(queue, shard)],
        [.string(Self.group), .string(consumer), .integer(Int64(limit)), 100, 16, "+inf"])
      for entry in reply.array?.first?.array ?? [] {
        leases.append(
          try #require(
            LeasedMessage(
              queue: queue, entryID: entry.array?[0].string ?? "", fields: entry.array?[1] ?? .null, deliveryCount: 1,
              consumer: consumer)))
      }
    }
    return leases
  }
}
