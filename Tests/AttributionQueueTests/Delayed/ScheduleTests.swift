import RedisClient
import Synchronization
import TestSupport
import Testing

@testable import AttributionQueue

/// The schedule of the shards contains every shard that has to be queried.
@Suite struct ScheduleTests {
  func token(_ name: String, order: String? = nil, deadline: Int64, notBefore: Int64? = nil) -> AcceptRequest {
    var request = request(name, order: order, notBefore: notBefore, queue: .tokens)
    request.deadline = deadline
    return request
  }

  func noted(_ shard: Shard, _ queue: DeliveryQueue, _ name: QueueName = .tokens) async throws -> Int64? {
    try await queue.send(["ZSCORE", .string(Keys.schedule(name)), .string("\(shard.index)")]).string.flatMap { Int64($0) }
  }

  @Test func `After a query, the next query of a shard is due for waiting or for delayed messages, whichever is sooner`() {
    func next(_ waiting: Int, _ due: Int64?) -> Int64? { DeadlineIndex.nextQuery(waiting: waiting, nextDue: due, now: 100, every: 50) }
    #expect(next(0, nil) == nil)
    #expect(next(0, 1000) == 1000)
    #expect(next(3, nil) == 150)
    #expect(next(3, 1000) == 150)
    #expect(next(3, 120) == 120)
  }

  @Test func `Schedule entries of many shards are written together, each with its earliest time`() async throws {
    try await withQueue { queue, _ in
      let notes = ScheduleWriteCoalescer()
      let now = DeliveryQueue.now
      for round in [3, 1, 2] {
        for shard in Shard.all { notes.add(shard, due: now + Int64(1000 * round + shard.index), of: .intake, in: queue) }
      }
      try await eventually("all are noted") {
        for shard in Shard.all where try await noted(shard, queue, .intake) != now + 1000 + Int64(shard.index) { return false }
        return true
      }
    }
  }

  @Test func `A repeated token is scheduled again, because the first process may have died before it could`() async throws {
    try await withQueue { queue, _ in
      let token = token("a", deadline: DeliveryQueue.now + 3_600_000)
      let id = try await queue.accept(token).id
      try await eventually("it is noted") { try await noted(id.shard, queue) != nil }
      _ = try await queue.send(["DEL", .string(Keys.schedule(.tokens))])
      #expect(try await queue.accept(token) == .duplicate(id))
      try await eventually("it is noted again") { try await noted(id.shard, queue) != nil }
    }
  }

  @Test func `A token whose accept got no reply is scheduled`() async throws {
    let server = try RedisServer()
    let queue = try await server.queue(commandTimeout: .seconds(3))
    let token = token("a", deadline: DeliveryQueue.now + 3_600_000)
    let id = queue.deliveryID(for: token)
    // The script is loaded, so that the next call is a single command.
    _ = try await queue.accept(self.token("b", deadline: DeliveryQueue.now + 3_600_000))
    await server.suspend { await #expect(throws: QueueError.self) { try await queue.accept(token) } }
    try await eventually("it was taken") {
      try await queue.send(["ZSCORE", .string(Keys.byDeadline(.tokens, id.shard)), .string(id.description)]).string != nil
    }
    try await eventually("it is noted") { try await noted(id.shard, queue) != nil }
  }

  @Test func `A replayed dead letter with a deadline is ordered by deadline and does not bypass the gate`() async throws {
    try await withQueue { queue, _ in
      let deadline = DeliveryQueue.now + 3_600_000
      let id = try await queue.accept(token("a", deadline: deadline)).id
      let lease = try #require(try await queue.takeAll("w", .tokens, limit: 1).first)
      try await queue.deadLetter(lease, error: "x")
      let administration = QueueAdministration(deliveries: queue)
      let gate = DeadlineWorkerTests.Gate(open: false)
      let worked = Mutex(0)
      try await DeadlineWorkerTests().working(queue, gate) { lease in
        worked.withLock { $0 += lease.deadline == deadline && lease.attempt == 1 ? 1 : 1000 }
        return .complete(Completion(state: .done, events: []))
      } while: {
        #expect(try await administration.replay(.tokens, ids: []) == 1)
        try await eventually("it waits by deadline") {
          try await queue.send(["ZSCORE", .string(Keys.byDeadline(.tokens, id.shard)), .string(id.description)]).string != nil
        }
        #expect(worked.withLock { $0 } == 0)
        gate.set(true)
        try await eventually("it is worked") { worked.withLock { $0 } == 1 }
      }
    }
  }

  @Test func `A message that is given back after a take-over counts the failed attempt`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      #expect(try await queue.leaseAll("dead").count == 1)
      let taken = try #require(try await queue.reclaimAll("b").first)
      #expect(taken.attempt == 2)
      try await queue.release(taken)
      #expect(try await queue.leaseAll("c").first?.attempt == 2)
    }
  }

  @Test func `A history keeps its newest lines and has a maximum length`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      let poller = DelayedPoller(queue: .intake, deliveries: queue, blocking: queue.redis)
      for round in 0..<40 {
        let lease = try #require(try await queue.leaseAll("w").first)
        try await queue.retry(lease, after: .zero, error: "\(round) " + String(repeating: "x", count: 300))
        _ = try await poller.queryDue()
      }
      let lease = try #require(try await queue.leaseAll("w").first)
      #expect(lease.attempt == 41 && lease.history.utf8.count <= 4096)
      let lines = lease.history.split(separator: "\n")
      #expect(lines.count > 10 && lines.allSatisfy { $0.contains(" ") && $0.hasSuffix("xxx") })
      #expect(lines.last?.contains(" 39 x") == true)
      let first = try #require(lines.first?.split(separator: " ").first)
      #expect(Int64(first) != nil)
    }
  }

  @Test func `Names of dead workers are removed when they have no leases`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(request("a")).id
      #expect(try await queue.leaseAll("holds").count == 1)
      #expect(try await queue.leaseAll("gone").isEmpty)
      let stream = RedisArgument.string(Keys.ready(.intake, id.shard))
      _ = try await queue.send(["XGROUP", "CREATECONSUMER", stream, .string(DeliveryQueue.group), "gone"])
      try await Task.sleep(for: .milliseconds(5))
      let consumer = QueueConsumer(queue: .intake, deliveries: queue)
      let work = Task { await consumer.removeDeadWorkers(after: .milliseconds(1)) }
      try await eventually("one name is left") {
        try await queue.send(["XINFO", "CONSUMERS", stream, .string(DeliveryQueue.group)]).array?.count == 1
      }
      work.cancel()
      #expect(try await queue.reclaimAll("b").count == 1)
    }
  }

  @Test func `A wait ends when its time is over, even a very short one`() async {
    let wakeSignal = WakeSignal()
    for _ in 0..<2000 { await wakeSignal.wait(for: .nanoseconds(1)) }
    wakeSignal.wake()
    await wakeSignal.wait(for: .seconds(3600))
  }
}
