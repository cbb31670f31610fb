import RedisClient

/// Moves delayed messages to the ready streams when they are due, in a queue whose shards are owned. Every ``ShardWorker`` runs one;
/// ``ShardSchedule`` divides the shards among them.
struct DelayedPoller: Sendable {
  let schedule: ShardSchedule
  /// A client of its own for blocking reads.
  let blocking: RedisClient

  init(queue: QueueName, deliveries: DeliveryQueue, blocking: RedisClient) {
    schedule = ShardSchedule(queue: queue, deliveries: deliveries)
    self.blocking = blocking
  }

  /// Moves due messages until the task is cancelled.
  func run() async {
    var lastFullScan: ContinuousClock.Instant?
    while !Task.isCancelled {
      do {
        if lastFullScan.map({ $0.duration(to: .now) >= ShardSchedule.fullScan }) ?? true {
          try await query(Shard.all)
          lastFullScan = .now
        }
        try await schedule.wait(try await queryDue(), on: blocking)
      } catch {
        try? await Task.sleep(for: .milliseconds(.random(in: 100...1000)))
      }
    }
  }

  /// Moves the due messages of all due shards. Returns the schedule when no shard is due.
  func queryDue() async throws -> ShardSchedule.Due {
    while true {
      let due = try await schedule.due()
      guard !due.shards.isEmpty else { return due }
      try await query(due.shards)
    }
  }

  /// Moves due messages of these shards and schedules their next query.
  private func query(_ shards: [Shard]) async throws {
    let (queue, deliveries) = (schedule.queue, schedule.deliveries)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for shard in shards {
        group.addTask {
          // What exceeds 100 messages is due still, so the shard is queried again at once.
          let reply = try await deliveries.run(
            Scripts.promote, [Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.ready(queue, shard)], [100])
          guard let next = reply.array?.last?.integer else { throw QueueError.unavailable(.unexpectedReply("promote")) }
          try await schedule.queried(at: shard, next: next < 0 ? nil : next)
        }
      }
      try await group.waitForAll()
    }
  }
}
