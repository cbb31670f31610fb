import RedisClient

/// Checks that each shard with delayed messages is in the schedule. A message and its schedule entry are in different shards and are
/// written in two steps, so an entry counts as missing only if it is missing twice, some time apart (``StoreCheck/Options/pause``), for the
/// same message.
struct ScheduleCheck: Sendable {
  /// The tolerance for a query in progress, milliseconds.
  private static let slack: Double = 10_000

  let reader: StoreReader

  /// The shards whose schedule entry is missing or later than the earliest due time of their delayed messages.
  func missing(_ queue: QueueName, _ due: [Shard: Double]) async throws -> [Shard: Double] {
    guard !due.isEmpty else { return [:] }
    let scheduled = try await reader.sortedSet(Keys.schedule(queue))
    let now = Double(DeliveryQueue.now)
    return due.filter { shard, due in
      Self.isMissing(due: due, scheduled: [scheduled["\(shard.index)"], scheduled["\(shard.index)*"]].compactMap { $0 }, now: now)
    }
  }

  /// The suspected shards whose entry is still missing. If the earliest due time of a shard is later than before, a worker has queried the
  /// shard meanwhile, so that it is no longer suspected.
  func stillMissing(_ queue: QueueName, _ suspects: [Shard: Double]) async throws -> [(shard: Shard, due: Int64)] {
    var due: [Shard: Double] = [:]
    for (shard, before) in suspects {
      let key = Keys.delayed(queue, shard)
      let first = try await reader.send(["ZRANGE", .string(key), "0", "0", "WITHSCORES"], key)
      if let score = first.array?.last?.string.flatMap(Double.init), score.isFinite, score <= before { due[shard] = score }
    }
    return try await missing(queue, due).map { ($0, Int64($1)) }.sorted { $0.0.index < $1.0.index }
  }

  /// - Parameter scheduled: the times of the shard's entries in the schedule; ``ShardSchedule`` may have one for a query in progress.
  static func isMissing(due: Double, scheduled: [Double], now: Double) -> Bool {
    scheduled.min().map { $0 > max(due, now) + slack } ?? true
  }
}
