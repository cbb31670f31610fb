import Logging
import RedisClient
import Synchronization

/// Hears where something came into an empty stream: the channels of the shards that a worker owns, over one connection.
///
/// A message that nobody hears is lost: what was subscribed to is looked at once when the subscription stands, and from time to time.
final class ShardSubscriptions: Sendable {
  private struct State {
    var wanted: Set<Shard> = []
    var subscribed: Set<Shard> = []
    /// How many connections there were when these were subscribed to.
    var connections = 0
    var isRefused = false
  }

  private let queue: QueueName
  private let logger: Logger
  private let state: Mutex<State>
  private let redis: RedisClient
  /// Connections that were made.
  private let connections: Counter
  private let ring: @Sendable (Shard) -> Void

  /// - Parameters:
  ///   - loop: the number of the event loop on which `ring` is called.
  ///   - ring: something may be there.
  init(_ queue: QueueName, _ deliveries: DeliveryQueue, loop: Int, ring: @escaping @Sendable (Shard) -> Void) {
    self.queue = queue
    self.ring = ring
    logger = deliveries.logger
    state = Mutex(State())
    let connections = Counter()
    self.connections = connections
    redis = deliveries.redis.subscriber(loop: loop) {
      connections.add()
    } onMessage: { channel in
      if let shard = Keys.shard(of: channel) { ring(shard) }
    }
  }

  func want(_ shard: Shard) { state.withLock { _ = $0.wanted.insert(shard) } }
  func forget(_ shard: Shard) { state.withLock { _ = $0.wanted.remove(shard) } }

  /// Whether all that is wanted is heard.
  var isWhole: Bool { state.withLock { $0.wanted.isSubset(of: $0.subscribed) } }

  /// How often what is wanted is compared with what is subscribed to.
  private static let interval: Duration = .seconds(1)

  /// Updates again and again, until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await update()
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Subscribes to what is wanted and not heard yet, and finds out whether the connection stands.
  func update() async {
    guard (try? await redis.send(["PING"])) != nil else { return state.withLock { $0.subscribed = [] } }
    let connections = connections.value
    state.withLock { state in
      guard connections != state.connections else { return }
      // A new one is subscribed to nothing.
      state.connections = connections
      state.subscribed = []
    }
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
    do throws(RedisError) {
      try await redis.send(["SSUBSCRIBE", .string(Keys.ready(queue, shard))])
      state.withLock { _ = $0.subscribed.insert(shard) }
      ring(shard)
    } catch {
      guard case .refused(let text) = error, state.withLock({ $0.isRefused.exchange(true) }) == false else { return }
      logger.warning(
        "Redis refuses subscriptions: shards are looked at from time to time instead", metadata: ["reason": "\(text)"])
    }
  }

  func close() { redis.close() }
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func add() { count.add(1, ordering: .relaxed) }
}

extension Bool {
  fileprivate mutating func exchange(_ value: Bool) -> Bool {
    defer { self = value }
    return self
  }
}
