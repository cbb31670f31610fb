import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct DeadLetterLimitTests {
  /// Adds dead letters to one shard and returns their ids in order.
  private func addDeadLetter(_ count: Int, _ queue: DeliveryQueue) async throws -> [DeliveryID] {
    var ids: [DeliveryID] = []
    for index in 0..<count {
      ids.append(try await queue.accept(request("n\(index)", copy: String(repeating: "x", count: 5000), order: "one")).id)
      for lease in try await queue.leaseAll("a") { try await queue.deadLetter(lease, error: "x") }
    }
    return ids
  }

  @Test func `Dead letters beyond the memory limit are deleted, the oldest first, and counted`() async throws {
    // A shard may have 30 kB of dead letters. One letter has 5 kB, and the stream needs more memory besides.
    try await withQueue({ $0.deadLetterBytes = 30_000 * Shard.count }) { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let ids = try await addDeadLetter(20, queue)
      let left = try await administration.deadLetters(.intake, limit: 100).map(\.id)
      #expect((2..<10).contains(left.count))
      #expect(left == Array(ids.suffix(left.count)))
      #expect(queue.droppedDeadLetters.count(.intake) == .init(aged: 0, large: 20 - left.count))
      #expect(queue.droppedDeadLetters.count(.tokens) == .init())
    }
  }

  @Test func `The newest dead letter stays whatever its size`() async throws {
    try await withQueue({ $0.deadLetterBytes = 1 }) { queue, _ in
      let ids = try await addDeadLetter(3, queue)
      #expect(try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 10).map(\.id) == [ids[2]])
    }
  }

  @Test func `Dead letters beyond the age limit are deleted, and newer ones stay`() async throws {
    try await withQueue { queue, server in
      let administration = QueueAdministration(deliveries: queue)
      let ids = try await addDeadLetter(2, queue)
      try await DeadLetterLimit(queue: .intake, deliveries: queue).enforce(ids[0].shard)
      #expect(try await administration.deadLetters(.intake, limit: 10).map(\.id) == ids)
      // The same letters with a limit that is exceeded immediately.
      var configuration = QueueConfiguration()
      configuration.deadLetterAge = .seconds(-1)
      let strict = try await DeliveryQueue.open(redis: try await server.client(), configuration: configuration, logger: quietLogger)
      try await DeadLetterLimit(queue: .intake, deliveries: strict).enforce(ids[0].shard)
      #expect(try await administration.deadLetters(.intake, limit: 10).isEmpty)
      #expect(strict.droppedDeadLetters.count(.intake) == .init(aged: 2, large: 0))
    }
  }

  @Test func `A worker enforces the limits some time after its start, and can be stopped before that`() async throws {
    try await withQueue { queue, server in
      _ = try await addDeadLetter(2, queue)
      let administration = QueueAdministration(deliveries: queue)
      var configuration = QueueConfiguration()
      configuration.deadLetterAge = .seconds(-1)
      // The default delay is a minute; the worker ends without waiting for it.
      let patient = try await DeliveryQueue.open(redis: try await server.client(), configuration: configuration, logger: quietLogger)
      let idle = ShardWorker(queue: .intake, deliveries: patient, pace: .computing) { _ in .giveBack }
      let rest = Task { await idle.run() }
      idle.stop()
      await rest.value
      #expect(try await administration.snapshot(.intake).dead == 2)

      configuration.housekeepingDelay = .milliseconds(10)
      let soon = try await DeliveryQueue.open(redis: try await server.client(), configuration: configuration, logger: quietLogger)
      let worker = ShardWorker(queue: .intake, deliveries: soon, pace: .computing) { _ in .giveBack }
      let work = Task { await worker.run() }
      try await eventually("they go") { try await administration.snapshot(.intake).dead == 0 }
      worker.stop()
      await work.value
    }
  }
}
