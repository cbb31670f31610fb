import Logging
import RedisClient

/// Keeps the dead letters of a queue within their limits of memory and age. Each dropped dead letter is logged.
struct DeadLetterLimit: Sendable {
  /// The maximum number of dead letters that one call of prune.lua drops, because a script blocks Redis.
  private static let batch: Int64 = 100

  /// How often the limits are enforced, whether or not a dead letter was added.
  private static let interval: Duration = .seconds(600)

  let queue: QueueName
  let deliveries: DeliveryQueue

  /// Enforces the limits of all shards periodically until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      for shard in Shard.all where !Task.isCancelled { try? await enforce(shard) }
      do { try await Task.sleep(for: Self.interval) } catch { return }
    }
  }

  /// Drops the dead letters of a shard that exceed a limit.
  func enforce(_ shard: Shard) async throws(QueueError) {
    let configuration = deliveries.configuration
    while true {
      let reply = try await deliveries.run(
        Scripts.prune, [Keys.dead(queue, shard)],
        [
          .integer(DeliveryQueue.now - configuration.deadLetterAge.milliseconds),
          .integer(Int64(max(1, configuration.deadLetterBytes / Shard.count))), .integer(Self.batch),
        ])
      guard let values = reply.array, values.count == 3, let aged = values[0].integer, let large = values[1].integer else {
        throw .unavailable(.unexpectedReply("prune"))
      }
      guard aged + large > 0 else { return }
      deliveries.droppedDeadLetters.add(.init(aged: Int(aged), large: Int(large)), to: queue)
      let ids = (values[2].array ?? []).compactMap(\.string)
      deliveries.logger.error(
        "dead letters were dropped",
        metadata: [
          "queue": "\(queue.rawValue)", "pastAge": "\(aged)", "pastMemory": "\(large)",
          "deliveries": "\(ids.joined(separator: " "))",
        ])
      if aged + large < Self.batch { return }
    }
  }
}
