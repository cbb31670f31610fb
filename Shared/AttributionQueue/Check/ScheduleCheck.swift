import RedisClient

/// Checks that of each shard with delayed messages it is noted when to look at it. The note lies in a shard of its own, so that it is written
/// in another step than the message: what is missing twice, some time apart, for the same message is missing.
struct ScheduleCheck: Sendable {
  /// What a look that is under way may be late by, milliseconds.
  private static let slack: Double = 10_000

  let reader: StoreReader

  /// Of shards and the first time that their delayed messages wait for: those of which no look is noted by then.
  func missing(_ queue: QueueName, _ due: [Shard: Double]) async throws -> [Shard: Double] {
    guard !due.isEmpty else { return [:] }
    let noted = try await reader.sortedSet(Keys.schedule(queue))
    let now = Double(DeliveryQueue.now)
    return due.filter { shard, due in
      Self.isMissing(due: due, noted: [noted["\(shard.index)"], noted["\(shard.index)*"]].compactMap { $0 }, now: now)
    }
  }

  /// The same of shards that seemed so, where what waited first then still does: otherwise somebody has looked meanwhile.
  func stillMissing(_ queue: QueueName, _ suspects: [Shard: Double]) async throws -> [(shard: Shard, due: Int64)] {
    var due: [Shard: Double] = [:]
    for (shard, before) in suspects {
      let key = Keys.delayed(queue, shard)
      let first = try await reader.send(["ZRANGE", .string(key), "0", "0", "WITHSCORES"], key)
      if let score = first.array?.last?.string.flatMap(Double.init), score.isFinite, score <= before { due[shard] = score }
    }
    return try await missing(queue, due).map { ($0, Int64($1)) }.sorted { $0.0.index < $1.0.index }
  }

  static func isMissing(due: Double, noted: [Double], now: Double) -> Bool {
    noted.min().map { $0 > max(due, now) + slack } ?? true
  }
}
