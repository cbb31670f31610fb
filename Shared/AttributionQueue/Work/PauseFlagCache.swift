import RedisClient

/// Asks at times whether a queue is paused: not before each message, and often enough that a pause is soon noticed. One for all of a
/// worker's shards.
struct PauseFlagCache: Sendable {
  /// When to ask again while it is.
  static let pause: Duration = .milliseconds(250)

  private let answer: CachedAnswer<Bool>

  /// `interval`, `longest`: see ``CachedAnswer``.
  init(
    queue: QueueName, deliveries: DeliveryQueue, interval: Duration = .milliseconds(200), longest: Duration = .milliseconds(400)
  ) {
    answer = CachedAnswer(interval: interval, longest: longest) { () throws(QueueError) in
      try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer != 0
    }
  }

  func isPaused() async throws(QueueError) -> Bool { try await answer.value }
}
