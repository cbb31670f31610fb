import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// Shards that change their worker, because it stopped, died, or could not reach Redis.
@Suite struct ShardHandOverTests: WorkingShards {
  private func share(of worker: ShardWorker, among workers: [ShardWorker]) -> Int {
    ShardAssignment.shards(of: worker.name, among: workers.map(\.name)).count
  }

  @Test func `Workers share the shards, and one that stops leaves its shards to the others`() async throws {
    try await withQueue { queue, _ in
      try await working(queue) { first in
        try await eventually("one owns all") { first.owned == Shard.count }
        try await working(queue) { second in
          try await eventually("both own their shares") {
            first.owned + second.owned == Shard.count && second.owned > 50 && first.owned > 50
          }
          for number in 0..<200 { _ = try await queue.accept(request("m\(number)")) }
        }
        try await eventually("one owns all again") { first.owned == Shard.count }
        try await eventually("all are worked") { try await queue.allEvents().count == 200 }
      }
    }
  }

  @Test func `The shards of a dead worker are taken over after its heartbeat timeout, and the starts of its messages are counted`()
    async throws
  {
    try await withQueue({ $0.workerTimeout = .milliseconds(500) }) { queue, _ in
      for number in 0..<5 { _ = try await queue.accept(request("m\(number)", order: "one")) }
      let shard = queue.deliveryID(for: request("m0", order: "one")).shard
      let ghost = ShardOwnership(text: "")
      guard case .own(let held, nil) = try await ghost.take(.intake, shard, for: "ghost", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      _ = try await queue.run(Scripts.beat, [Keys.workers(.intake)], ["ghost", 60_000])
      let attempts = Mutex<[Int]>([])
      try await working(
        queue,
        handler: { lease in
          attempts.withLock { $0.append(lease.attempt) }
          return await Self.verifying(lease)
        }
      ) { worker in
        try await eventually("it is taken over") { try await queue.allEvents().count == 5 }
        let now = try await ShardOwnership.read(.intake, shard, queue)
        #expect(now.owner.map(String.init) == worker.name)
        #expect(now.text.hasPrefix("2 "))
      }
      // The dead worker may have begun each message.
      #expect(attempts.withLock { $0 } == [2, 2, 2, 2, 2])
      let suspects = try await queue.send(["HKEYS", .string(Keys.suspects(.intake, shard))]).array ?? []
      #expect(suspects.allSatisfy { $0.string == "until" })
      // Requests of the dead worker are refused.
      let reply = try await queue.run(Scripts.disown, [Keys.ownership(.intake, shard)], [.string(held.text)])
      #expect(reply.integer == 0)
    }
  }

  @Test func `A message that crashes its workers becomes a dead letter, and others do not`() async throws {
    try await withQueue({
      $0.lease = .milliseconds(200)
      $0.workerTimeout = .milliseconds(200)
      $0.maxDeliveries = 3
    }) { queue, _ in
      for name in ["a", "poison", "b"] { _ = try await queue.accept(request(name, order: "one")) }
      let shard = queue.deliveryID(for: request("a", order: "one")).shard
      let begun = Mutex(0)
      // Each worker dies like a process: it owns the shard, settles nothing and sends nothing any more.
      for number in 0..<6 where try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 0 {
        let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random()) { lease in
          let name = lease.message.attributes["natural"] ?? ""
          guard name == "poison" else { return .complete(verified(name)) }
          begun.withLock { $0 += 1 }
          try? await Task.sleep(for: .seconds(3600))
          return .giveBack
        }
        let run = Task { await worker.run() }
        try await eventually("it begins, or gives up") {
          let dead = try await QueueAdministration(deliveries: queue).snapshot(.intake).dead
          return begun.withLock { $0 } > number || dead == 1
        }
        guard begun.withLock({ $0 }) > number else {
          worker.stop()
          await run.value
          break
        }
        // Another worker takes over without knowing how the former one ended.
        let before = try await ShardOwnership.read(.intake, shard, queue)
        _ = try await before.take(.intake, shard, for: "ghost-\(number)", isAbandoned: true, queue)
        run.cancel()
        await run.value
      }
      #expect(begun.withLock { $0 } == 3)
      try await working(queue) { _ in
        try await eventually("the others are worked") { try await queue.allEvents().sorted() == ["e-a", "e-b"] }
      }
      let letter = try #require(try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 10).first)
      #expect(letter.lastError.hasPrefix("its worker ended"))
    }
  }

  @Test func `Workers keep their shards after Redis was unreachable for longer than their timeout`() async throws {
    try await withQueue({ $0.workerTimeout = .seconds(2) }) { queue, server in
      let reclaimed = Mutex(0)
      let workers = (0..<2).map { _ in
        ShardWorker(
          queue: .intake, deliveries: queue, pace: .computing,
          observe: { if case .reclaimed(let count) = $0 { reclaimed.withLock { $0 += count } } }, handler: Self.verifying)
      }
      let runs = workers.map { worker in Task { await worker.run() } }
      try await eventually("each has its share") { workers.allSatisfy { $0.owned == share(of: $0, among: workers) } }
      let before = reclaimed.withLock { $0 }
      await server.kill()
      try await Task.sleep(for: .milliseconds(2500))
      try server.start()
      try await eventually("Redis takes in again") { (try? await queue.accept(request("after"))) != nil }
      try await Task.sleep(for: .seconds(3))
      #expect(reclaimed.withLock { $0 } == before)
      #expect(workers.reduce(0) { $0 + $1.owned } == Shard.count)
      try await eventually("it is worked") { try await queue.allEvents() == ["e-after"] }
      for worker in workers { worker.stop() }
      for run in runs { await run.value }
    }
  }

  @Test func `Shards are handed over even if Redis was unreachable meanwhile`() async throws {
    try await withQueue({ $0.workerTimeout = .seconds(2) }) { queue, server in
      try await working(queue) { first in
        try await eventually("it owns all") { first.owned == Shard.count }
        for _ in 0..<4 {
          try await working(queue) { second in
            try await eventually("shards change hands") { first.owned < Shard.count }
            await server.kill()
            try server.start()
            try await eventually("each has its share") {
              [first, second].allSatisfy { $0.owned == share(of: $0, among: [first, second]) }
            }
          }
          try await eventually("the first owns all again") { first.owned == Shard.count }
        }
      }
    }
  }

  @Test func `Messages stay in order while some are retried and workers join and leave`() async throws {
    try await withQueue({ $0.backoffCap = .milliseconds(20) }) { queue, _ in
      let worked = Mutex<[String: [Int]]>([:])
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        .inOrder {
          let parts = (lease.message.attributes["natural"] ?? "").split(separator: ":")
          if Int.random(in: 0..<4) == 0 { return .retry(after: .milliseconds(.random(in: 0...10)), error: "again") }
          worked.withLock { $0[String(parts[0]), default: []].append(Int(parts[1]) ?? -1) }
          return .complete(Completion(state: .done, events: []))
        }
      }
      try await working(queue, handler: handler) { _ in
        for number in 0..<40 {
          for line in 0..<8 { _ = try await queue.accept(request("l\(line):\(number)", order: "l\(line)", keepsOrder: true)) }
          if number == 20 {
            try await working(queue, handler: handler) { second in
              try await eventually("it has a share") { second.owned > 20 }
            }
          }
        }
        try await eventually("all are worked") { worked.withLock { $0.values.reduce(0) { $0 + $1.count } } >= 320 }
      }
      for line in 0..<8 { #expect(worked.withLock { $0["l\(line)"] } == Array(0..<40)) }
    }
  }

  @Test func `Nothing is lost or counted twice while Redis is killed and workers are stopped at random`() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue {
      $0.lease = .milliseconds(800)
      $0.workerTimeout = .milliseconds(800)
      $0.backoffCap = .milliseconds(20)
    }
    let isRunning = Flag(true)
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      if Int.random(in: 0..<10) == 0 { return .retry(after: .milliseconds(.random(in: 0...20)), error: "again") }
      return .complete(verified(lease.message.attributes["natural"] ?? ""))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          while isRunning.value {
            let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
            let task = Task { await worker.run() }
            try await Task.sleep(for: .milliseconds(.random(in: 300...1500)))
            if Bool.random() { worker.stop() } else { task.cancel() }
            await task.value
          }
        }
      }
      for number in 0..<600 {
        let delivery = request("m\(number % 500)", copy: "\(number)")
        while (try? await queue.accept(delivery)) == nil { try await Task.sleep(for: .milliseconds(20)) }
        if number % 150 == 149 {
          await redis.kill()
          try await Task.sleep(for: .milliseconds(200))
          try redis.start()
        }
        try await Task.sleep(for: .milliseconds(4))
      }
      isRunning.value = false
      try await group.waitForAll()
    }
    try await working(queue) { _ in
      try await eventually("all are worked") {
        let now = try await QueueAdministration(deliveries: queue).snapshot(.intake)
        return now.depth + now.delayed == 0
      }
    }
    let events = try await queue.allEvents()
    #expect(events.count == 500)
    #expect(Set(events).count == 500)
    #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 0)
  }
}

private final class Flag: Sendable {
  private let state: Mutex<Bool>
  init(_ value: Bool) { state = Mutex(value) }
  var value: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
