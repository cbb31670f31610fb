import RedisClient

/// Caches whether a queue is paused, so that Redis is not queried before each message, and a pause still takes effect within a fraction of
/// a second. All shards of a worker share one cache.
struct PauseFlagCache: Sendable {
  /// How long a worker of a paused queue waits before it checks again.
  static let checkInterval: Duration = .milliseconds(250)

  private let cached: CachedValue<Bool>

  /// - Parameters:
  ///   - interval: the age at which one caller reads the flag again.
  ///   - maxAge: the age up to which other callers still use the cached flag meanwhile.
  init(
    queue: QueueName, deliveries: DeliveryQueue, interval: Duration = .milliseconds(200), maxAge: Duration = .milliseconds(400)
  ) {
    cached = CachedValue(interval: interval, maxAge: maxAge) { () throws(QueueError) in
      try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer != 0
    }
  }

  func isPaused() async throws(QueueError) -> Bool { try await cached.value }
}
