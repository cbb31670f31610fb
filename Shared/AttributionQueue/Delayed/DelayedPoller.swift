import RedisClient

/// Moves delayed messages to the ready stream when they are due.
struct DelayedPoller: Sendable {
  let schedule: ShardSchedule
  let blocking: RedisClient

  init(queue: QueueName, deliveries: DeliveryQueue, blocking: RedisClient) {
    schedule = ShardSchedule(queue: queue, deliveries: deliveries)
    self.blocking = blocking
  }

  /// Runs until cancelled.
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

  /// Moves the due messages of all due shards, and returns when the next shard is due.
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
