import RedisClient

/// When each shard of a queue must be looked at next, known to all who look: a message that comes due, or is new in a queue that is
/// worked by deadline, is noted here, and whoever is free takes the shards that are due. While nothing is due nothing is asked.
///
/// What is noted stays until a look at the shard has ended: one that dies meanwhile has another look a little later. All wait for the
/// same moment, so that the end of one makes no message late.
struct ShardSchedule: Sendable {
  /// A blocking read has an end, or a connection that broke in silence would stay unnoticed.
  static let longestSleep: Duration = .seconds(30)
  /// How long a look at a shard may take until another looks too.
  static let longestLook: Duration = .seconds(5)
  /// All shards are looked at by one who starts, and this often in case Redis lost what was noted.
  static let wholeLook: Duration = .seconds(600)

  /// What is due, and what to wait for.
  struct Due: Sendable {
    var shards: [Shard]
    /// Milliseconds until the next is due; nil when none is noted.
    var next: Int64?
    /// The last wake that was seen.
    var wake: String
  }

  let queue: QueueName
  let deliveries: DeliveryQueue

  private var keys: [String] { [Keys.schedule(queue), Keys.wakes(queue)] }

  /// Notes that a shard must be looked at by then, milliseconds since 1970, and wakes those that wait when that is before what they
  /// wait for.
  func note(_ shard: Shard, due: Int64) async throws(QueueError) { try await note([shard: due]) }

  /// The same of several.
  func note(_ shards: [Shard: Int64]) async throws(QueueError) {
    _ = try await deliveries.run(
      Scripts.schedule, keys, ["0"] + shards.flatMap { [.integer(Int64($0.key.index)), .integer($0.value)] })
  }

  /// A look at the shard has ended, and this is when it must be looked at again.
  func looked(at shard: Shard, next: Int64?) async throws(QueueError) {
    _ = try await deliveries.run(Scripts.schedule, keys, ["1", .integer(Int64(shard.index)), .integer(next ?? -1)])
  }

  /// Takes the shards that are due.
  func due() async throws(QueueError) -> Due {
    let reply = try await deliveries.run(Scripts.due, keys, [.integer(Self.longestLook.milliseconds)])
    guard let parts = reply.array, parts.count == 3, let next = parts[0].integer, let wake = parts[1].string,
      let shards = parts[2].array
    else { throw .unavailable(.unexpectedReply("due")) }
    return Due(
      shards: shards.compactMap { $0.integer.map { Shard(Int($0)) } }, next: next < 0 ? nil : next, wake: wake)
  }

  /// Returns when something is due, or is noted that is due before that.
  func wait(_ due: Due, on blocking: RedisClient) async throws(RedisError) {
    let sleep = min(max(due.next ?? Self.longestSleep.milliseconds, 1), Self.longestSleep.milliseconds)
    _ = try await blocking.send(
      ["XREAD", "COUNT", "1", "BLOCK", .integer(sleep), "STREAMS", .string(Keys.wakes(queue)), .string(due.wake)])
  }
}
