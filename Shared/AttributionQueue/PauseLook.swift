import RedisClient
import Synchronization

/// Asks at times whether a queue is paused: not before each message, and often enough that a pause is soon noticed. One for all who work
/// the queue in a process.
final class PauseLook: Sendable {
  private struct State {
    var isPaused: Bool?
    var looked: ContinuousClock.Instant?
  }

  private static let interval: Duration = .milliseconds(200)
  /// When to ask again while it is.
  static let pause: Duration = .milliseconds(250)

  private let queue: QueueName
  private let deliveries: DeliveryQueue
  private let state = Mutex(State())

  init(queue: QueueName, deliveries: DeliveryQueue) {
    self.queue = queue
    self.deliveries = deliveries
  }

  func isPaused() async throws(QueueError) -> Bool {
    let known = state.withLock { state -> Bool? in
      // Who finds nothing known waits for an answer; later on one asks, and the others go by what was known before.
      guard let isPaused = state.isPaused, let looked = state.looked else { return nil }
      if looked.duration(to: .now) < Self.interval { return isPaused }
      state.looked = .now
      return nil
    }
    if let known { return known }
    let isPaused: Bool
    do throws(QueueError) { isPaused = try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer != 0 } catch {
      state.withLock { $0 = State() }
      throw error
    }
    state.withLock { $0 = State(isPaused: isPaused, looked: .now) }
    return isPaused
  }
}
