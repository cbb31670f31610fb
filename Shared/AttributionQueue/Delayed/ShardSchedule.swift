import RedisClient

/// The time at which each shard of a queue must be queried next, shared by all workers: for delayed messages, and for new messages in a
/// queue that is worked by deadline. While nothing is due, no shard is queried.
///
/// A worker takes the shards that are due (``due()``), queries them, and reports when each must be queried next (``queried(at:next:)``).
/// Then it waits (``wait(_:on:)``) until the next shard is due or ``note(_:due:)`` writes an earlier time.
///
/// An entry stays in the schedule until the query of its shard has ended, so another worker queries the shard if the first one crashes. All
/// workers wait for the same time, so the crash of one of them delays no message.
struct ShardSchedule: Sendable {
  /// The maximum time of a blocking read, so that a broken connection is noticed.
  static let maxSleep: Duration = .seconds(30)
  /// How long a query of a shard may take before another worker queries the shard too.
  static let maxQueryTime: Duration = .seconds(5)
  /// How often all shards are queried, besides once at the start, in case Redis lost entries of the schedule.
  static let fullScan: Duration = .seconds(600)

  /// The shards that are due, and the time to wait for the next.
  struct Due: Sendable {
    var shards: [Shard]
    /// Milliseconds until the next shard is due; nil if the schedule is empty.
    var next: Int64?
    /// The id of the last entry of the wake stream at that time: ``wait(_:on:)`` reads after it.
    var wake: String
  }

  let queue: QueueName
  let deliveries: DeliveryQueue

  private var keys: [String] { [Keys.schedule(queue), Keys.wakes(queue)] }

  /// Schedules a query of the shard, and wakes waiting workers if they would wait for longer.
  ///
  /// - Parameter due: milliseconds since 1970.
  func note(_ shard: Shard, due: Int64) async throws(QueueError) { try await note([shard: due]) }

  /// Schedules queries of several shards.
  func note(_ shards: [Shard: Int64]) async throws(QueueError) {
    _ = try await deliveries.run(
      Scripts.schedule, keys, ["0"] + shards.flatMap { [.integer(Int64($0.key.index)), .integer($0.value)] })
  }

  /// Records that a query of the shard has ended.
  ///
  /// - Parameter next: when the next query is needed, milliseconds since 1970; nil for never.
  func queried(at shard: Shard, next: Int64?) async throws(QueueError) {
    _ = try await deliveries.run(Scripts.schedule, keys, ["1", .integer(Int64(shard.index)), .integer(next ?? -1)])
  }

  /// Takes the shards that are due.
  func due() async throws(QueueError) -> Due {
    let reply = try await deliveries.run(Scripts.due, keys, [.integer(Self.maxQueryTime.milliseconds)])
    guard let parts = reply.array, parts.count == 3, let next = parts[0].integer, let wake = parts[1].string,
      let shards = parts[2].array
    else { throw .unavailable(.unexpectedReply("due")) }
    return Due(
      shards: shards.compactMap { $0.integer.map { Shard(Int($0)) } }, next: next < 0 ? nil : next, wake: wake)
  }

  /// Returns when the next shard is due, or when an earlier entry is written.
  func wait(_ due: Due, on blocking: RedisClient) async throws(RedisError) {
    let sleep = min(max(due.next ?? Self.maxSleep.milliseconds, 1), Self.maxSleep.milliseconds)
    _ = try await blocking.send(
      ["XREAD", "COUNT", "1", "BLOCK", .integer(sleep), "STREAMS", .string(Keys.wakes(queue)), .string(due.wake)])
  }
}
