import RedisClient

/// Caches whether a queue is paused, so that Redis is not queried before each message and a pause still takes effect within a fraction
/// of a second. All shards of a worker share one.
struct PauseFlagCache: Sendable {
  /// How long a worker waits before it checks again whether the queue is still paused.
  static let pause: Duration = .milliseconds(250)

  private let cached: CachedValue<Bool>

  /// `interval`, `maxAge`: see ``CachedValue``.
  init(
    queue: QueueName, deliveries: DeliveryQueue, interval: Duration = .milliseconds(200), maxAge: Duration = .milliseconds(400)
  ) {
    cached = CachedValue(interval: interval, maxAge: maxAge) { () throws(QueueError) in
      try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer != 0
    }
  }

  func isPaused() async throws(QueueError) -> Bool { try await cached.value }
}
