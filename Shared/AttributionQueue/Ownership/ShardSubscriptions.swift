import Logging
import RedisClient
import Synchronization

/// Subscriptions to the notification channels of the shards that a worker owns. Scripts publish there when a message is appended to an
/// empty stream. There is one connection to each node.
///
/// Publications without a subscriber are lost, so a shard is also read once when its subscription is established, and periodically.
final class ShardSubscriptions: Sendable {
  private struct State {
    var wanted: Set<Shard> = []
    var subscribed: Set<Shard> = []
    var isRefused = false
  }

  private let queue: QueueName
  private let logger: Logger
  private let state = Mutex(State())
  private let redis: RedisClient
  private let ended: AsyncStream<Shard>
  private let wake: @Sendable (Shard, _ announcement: [UInt8]) -> Void

  /// - Parameters:
  ///   - loop: the number of the event loop on which `wake` is called.
  ///   - wake: called when a shard may have messages. `announcement`: the first of them, if accept.lua published it.
  init(
    _ queue: QueueName, _ deliveries: DeliveryQueue, loop: Int, wake: @escaping @Sendable (Shard, _ announcement: [UInt8]) -> Void
  ) {
    self.queue = queue
    self.wake = wake
    logger = deliveries.logger
    let (ended, ends) = AsyncStream<Shard>.makeStream()
    self.ended = ended
    redis = deliveries.redis.subscriber(
      loop: loop,
      RedisSubscription { channel, message in
        if let shard = Keys.shard(of: channel) { wake(shard, message) }
      } onEnd: { channel in
        if let shard = Keys.shard(of: channel) { ends.yield(shard) }
      })
  }

  func want(_ shard: Shard) { state.withLock { _ = $0.wanted.insert(shard) } }
  func forget(_ shard: Shard) { state.withLock { _ = $0.wanted.remove(shard) } }

  /// True if every wanted shard is subscribed.
  var isWhole: Bool { state.withLock { $0.wanted.isSubset(of: $0.subscribed) } }

  /// How often wanted and established subscriptions are compared.
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

  /// Subscribes to wanted shards and unsubscribes from others.
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
