import Logging
import RedisClient
import Synchronization

/// Subscriptions to the notification channels of the shards that a worker owns. Scripts publish to a shard's channel when they append a
/// message to its empty ready stream. There is one connection to each node.
///
/// Redis does not store publications for later subscribers. A shard is therefore also read when its subscription is established, and
/// periodically (``ShardWorker/readInterval``).
final class ShardSubscriptions: Sendable {
  private struct State {
    /// The shards that are to be subscribed.
    var wanted: Set<Shard> = []
    /// The shards that are subscribed, or whose subscription was requested.
    var subscribed: Set<Shard> = []
    /// True after Redis refused a subscription, and this was logged.
    var isRefused = false
  }

  private let queue: QueueName
  private let logger: Logger
  private let state = Mutex(State())
  private let redis: RedisClient
  /// Shards whose subscription has ended, because the connection is down.
  private let ended: AsyncStream<Shard>
  private let wake: @Sendable (Shard, _ announcement: [UInt8]) -> Void

  /// - Parameters:
  ///   - loop: the number of the event loop on which `wake` is called.
  ///   - wake: called when a shard may have messages. `announcement`: the message, if accept.lua published it, else empty.
  init(
    _ queue: QueueName, _ deliveries: DeliveryQueue, loop: Int, wake: @escaping @Sendable (Shard, _ announcement: [UInt8]) -> Void
  ) {
    self.queue = queue
    self.wake = wake
    logger = deliveries.logger
    let (ended, endedInput) = AsyncStream<Shard>.makeStream()
    self.ended = ended
    redis = deliveries.redis.subscriber(
      loop: loop,
      RedisSubscription { channel, message in
        if let shard = Keys.shard(of: channel) { wake(shard, message) }
      } onEnd: { channel in
        if let shard = Keys.shard(of: channel) { endedInput.yield(shard) }
      })
  }

  /// Subscribes to the shard at the next update.
  func add(_ shard: Shard) { state.withLock { _ = $0.wanted.insert(shard) } }
  /// Unsubscribes from the shard at the next update.
  func remove(_ shard: Shard) { state.withLock { _ = $0.wanted.remove(shard) } }

  /// True if every wanted shard is subscribed.
  var isComplete: Bool { state.withLock { $0.wanted.isSubset(of: $0.subscribed) } }

  /// How often the wanted subscriptions are compared with those that exist.
  private static let interval: Duration = .milliseconds(500)

  /// Updates periodically until the task is cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await shard in self.ended { self.state.withLock { _ = $0.subscribed.remove(shard) } }
      }
      group.addTask {
        while !Task.isCancelled {
          await self.update()
          try? await Task.sleep(for: Self.interval)
        }
      }
    }
  }

  /// Subscribes to wanted shards that are not subscribed, and unsubscribes from others.
  func update() async {
    let (missing, extra) = state.withLock { ($0.wanted.subtracting($0.subscribed), $0.subscribed.subtracting($0.wanted)) }
    await withDiscardingTaskGroup { group in
      for shard in missing { group.addTask { await self.subscribe(shard) } }
      for shard in extra {
        group.addTask {
          guard (try? await self.redis.send(["SUNSUBSCRIBE", .string(Keys.ready(self.queue, shard))])) != nil else { return }
          self.state.withLock { _ = $0.subscribed.remove(shard) }
        }
      }
    }
  }

  private func subscribe(_ shard: Shard) async {
    // Recorded before the reply, because the subscription may end before this task continues.
    state.withLock { _ = $0.subscribed.insert(shard) }
    do throws(RedisError) {
      try await redis.send(["SSUBSCRIBE", .string(Keys.ready(queue, shard))])
      wake(shard, [])
    } catch {
      state.withLock { _ = $0.subscribed.remove(shard) }
      guard case .refused(let text) = error, state.withLock({ $0.isRefused.exchange(true) }) == false else { return }
      logger.warning(
        "Redis refuses subscriptions to notification channels: shards are read periodically instead", metadata: ["reason": "\(text)"])
    }
  }

  func close() { redis.close() }
}

extension Bool {
  fileprivate mutating func exchange(_ value: Bool) -> Bool {
    defer { self = value }
    return self
  }
}
