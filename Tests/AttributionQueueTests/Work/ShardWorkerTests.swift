import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

@Suite struct ShardWorkerTests: WorkingShards {
  private func ownerships(_ queue: DeliveryQueue) async throws -> [ShardOwnership] {
    var all: [ShardOwnership] = []
    for shard in Shard.all { all.append(try await .read(.intake, shard, queue)) }
    return all
  }

  @Test func `A shard whose Redis is unreachable is retried soon at first, and less often later`() {
    #expect((1...3).allSatisfy { ShardWorker.pauses(after: $0) == 50...500 })
    #expect(ShardWorker.pauses(after: 4) == 100...1000)
    #expect([5, 6, 1000, Int.max].allSatisfy { ShardWorker.pauses(after: $0) == 200...2000 })
  }

  @Test func `Existing and new messages are processed in order and leave no data`() async throws {
    try await withQueue { queue, _ in
      let names = (0..<100).map { "n\($0)" }
      for name in names[..<50] { _ = try await queue.accept(request(name, order: "one")) }
      let worked = Mutex<[String]>([])
      try await working(
        queue,
        handler: { lease in
          worked.withLock { $0.append(lease.message.attributes["natural"] ?? "") }
          return await Self.verifying(lease)
        }
      ) { _ in
        for name in names[50...] { _ = try await queue.accept(request(name, order: "one")) }
        _ = try await queue.accept(request("n0", copy: "again", order: "one"))
        try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      }
      #expect(worked.withLock { $0 } == names + ["n0"])
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
      #expect(try await queue.delivery(queue.deliveryID(for: request("n7", order: "one")))?.state == .verified)
      let shard = queue.deliveryID(for: request("n0", order: "one")).shard
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, shard))]).integer == 0)
      // The shards were released, so the next worker need not wait.
      let owners = try await ownerships(queue)
      #expect(owners.allSatisfy { $0.owner == nil })
      #expect(try await queue.send(["ZCARD", .string(Keys.workers(.intake))]).integer == 0)
    }
  }

  @Test func `Every outcome is settled as the handler decided`() async throws {
    try await withQueue({
      $0.backoffBase = .milliseconds(1)
      $0.maxAttempts = 3
    }) { queue, _ in
      let names = ["done", "again", "dead", "waits", "always"]
      for name in names { _ = try await queue.accept(request(name, order: "one")) }
      let shard = queue.deliveryID(for: request("done", order: "one")).shard
      // An entry that was added by hand.
      try await queue.redis.send(["XADD", .string(Keys.ready(.intake, shard)), "*", "i", "nobody", "z", "1"])
      let attempts = Mutex<[String: [Int]]>([:])
      try await working(
        queue,
        handler: { lease in
          let name = lease.message.attributes["natural"] ?? ""
          let count = attempts.withLock { attempts in
            attempts[name, default: []].append(lease.attempt)
            return attempts[name]?.count ?? 0
          }
          switch name {
          case "again" where count < 3: return .retry(after: .milliseconds(5), error: "not yet")
          case "waits" where count < 3: return .wait(.milliseconds(5))
          case "always": return .retry(after: nil, error: "never\nat all")
          case "dead": return .deadLetter(error: "no")
          default: return .complete(verified(name))
          }
        }
      ) { _ in
        try await eventually("all are settled") {
          let now = try await QueueAdministration(deliveries: queue).snapshot(.intake)
          return now.depth + now.delayed == 0 && now.dead == 3
        }
      }
      #expect(try await queue.allEvents().sorted() == ["e-again", "e-done", "e-waits"])
      #expect(attempts.withLock { $0["again"] } == [1, 2, 3])
      #expect(attempts.withLock { $0["waits"] } == [1, 1, 1])
      #expect(attempts.withLock { $0["always"] } == [1, 2, 3])
      let letters = try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 10)
      #expect(Set(letters.map(\.lastError)) == ["never at all", "no", UnreadableEntry.reason])
      let always = try #require(letters.first { $0.lastError == "never at all" })
      #expect(always.attempts == 3 && always.history.count == 3)
      #expect(try await queue.delivery(always.id)?.state == .dead)
      let again = try await queue.delivery(queue.deliveryID(for: request("again", order: "one")))
      #expect(again?.attempts == 3 && again?.lastError == "not yet")
    }
  }

  @Test func `A message whose key was claimed before is left to its handler, and the others are settled`() async throws {
    try await withQueue { queue, _ in
      let names = ["a", "b", "a", "c", "a"]
      for (copy, name) in names.enumerated() { _ = try await queue.accept(request(name, copy: "\(copy)", order: "one")) }
      let asked = Mutex(0)
      try await working(
        queue,
        handler: { lease in
          let name = lease.message.attributes["natural"] ?? ""
          var completion = verified(name)
          completion.whenClaimedBefore = {
            let count = asked.withLock { asked in
              asked += 1
              return asked
            }
            return .complete(
              Completion(
                state: .rejected, events: [EventRecord(id: "seen-\(count)", type: "t.s", json: Array("{}".utf8))], reason: "conflict"))
          }
          return .complete(completion)
        }
      ) { _ in
        try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      }
      #expect(asked.withLock { $0 } == 2)
      #expect(try await queue.allEvents().sorted() == ["e-a", "e-b", "e-c", "seen-1", "seen-2"])
      let last = try await queue.delivery(queue.deliveryID(for: request("a", copy: "4", order: "one")))
      #expect(last?.state == .rejected && last?.reason == "conflict")
    }
  }

  @Test(arguments: StoreForm.allCases)
  func `A worker that starts while Redis is full takes its shards and processes their messages`(form: StoreForm) async throws {
    try await withQueue { queue, _ in
      try await FormSwitchTests.set(form, queue)
      for number in 0..<20 { _ = try await queue.accept(request("m\(number)")) }
      _ = try await queue.send(["CONFIG", "SET", "maxmemory", "1mb"])
      try await working(queue) { worker in
        try await eventually("all are worked") { try await queue.allEvents().count == 20 }
        try await eventually("it owns all") { worker.owned == Shard.count }
      }
      await #expect(throws: QueueError.self) { _ = try await queue.accept(request("more")) }
    }
  }

  @Test func `A paused queue is not processed, and continues when resumed`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      try await administration.pause(.intake)
      try await working(queue) { worker in
        try await eventually("it owns all") { worker.owned == Shard.count }
        for number in 0..<20 { _ = try await queue.accept(request("m\(number)")) }
        try await Task.sleep(for: .milliseconds(600))
        #expect(try await queue.allEvents().isEmpty)
        try await administration.resume(.intake)
        try await eventually("it goes on") { try await queue.allEvents().count == 20 }
      }
    }
  }

  @Test func `A failed query of the pause flag does not reduce the reading limit`() async throws {
    try await withQueue { queue, server in
      // Each order key has more messages than are read together, and all shards together exceed the reading limit of an event loop.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for line in 0..<64 {
          group.addTask {
            for number in 0..<128 { _ = try await queue.accept(request("\(line):\(number)", order: "line \(line)")) }
          }
        }
        try await group.waitForAll()
      }
      let redis = try await server.client()
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing) { _ in
        try? await Task.sleep(for: .milliseconds(1))
        return .deadLetter(error: "no")
      }
      let run = Task { await worker.run() }
      for _ in 0..<3 {
        try await Task.sleep(for: .milliseconds(400))
        try await redis.send(["ACL", "SETUSER", "default", "-exists"])
        try await Task.sleep(for: .milliseconds(600))
        try await redis.send(["ACL", "SETUSER", "default", "+exists"])
      }
      try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      worker.stop()
      await run.value
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 64 * 128)
    }
  }
}
