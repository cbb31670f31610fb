import RedisClient
import Synchronization

/// Asks at times whether a queue is paused: not before each message, and often enough that a pause is soon noticed. One for all lanes
/// of a worker: while one asks, the others go by what was last heard.
final class PauseLook: Sendable {
  private struct State {
    /// What was last heard, and when; nil: nothing yet.
    var heard: (isPaused: Bool, at: ContinuousClock.Instant)?
    var isAsking = false
  }

  /// When to ask again while it is.
  static let pause: Duration = .milliseconds(250)

  private let interval: Duration
  private let longest: Duration
  private let queue: QueueName
  private let deliveries: DeliveryQueue
  private let state = Mutex(State())

  /// `interval`: how old an answer may be before one asks again; `longest`: how old the others' answer may be meanwhile. After a
  /// silence that is longer each asks for itself.
  init(
    queue: QueueName, deliveries: DeliveryQueue, interval: Duration = .milliseconds(200), longest: Duration = .milliseconds(400)
  ) {
    self.interval = interval
    self.longest = longest
    self.queue = queue
    self.deliveries = deliveries
  }

  func isPaused() async throws(QueueError) -> Bool {
    let known: Bool? = state.withLock { state in
      if let heard = state.heard, heard.at.duration(to: .now) < (state.isAsking ? longest : interval) {
        return heard.isPaused
      }
      state.isAsking = true
      return nil
    }
    if let known { return known }
    do throws(QueueError) {
      let isPaused = try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer != 0
      state.withLock { $0 = State(heard: (isPaused, .now)) }
      return isPaused
    } catch {
      // The flag lies in one shard, whose node may be away while others are not: what was heard last counts until it is back.
      let heard = state.withLock { state in
        state = State(heard: state.heard.map { ($0.isPaused, .now) })
        return state.heard
      }
      guard let heard else { throw error }
      return heard.isPaused
    }
  }
}
