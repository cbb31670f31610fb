import RedisClient

/// Asks at times whether a queue is paused: not before each message, and often enough that a pause is soon noticed.
struct PauseLook: Sendable {
  private static let interval: Duration = .milliseconds(200)
  /// When to ask again while it is.
  static let pause: Duration = .milliseconds(250)

  let queue: QueueName
  let deliveries: DeliveryQueue
  private var lastLook: ContinuousClock.Instant?

  init(queue: QueueName, deliveries: DeliveryQueue) {
    self.queue = queue
    self.deliveries = deliveries
  }

  mutating func isPaused() async throws(QueueError) -> Bool {
    if let lastLook, lastLook.duration(to: .now) < Self.interval { return false }
    lastLook = nil
    guard try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer == 0 else { return true }
    lastLook = .now
    return false
  }
}
