import RedisClient
import Synchronization

/// Asks at times whether a queue is paused: not before each message, and often enough that a pause is soon noticed. One for all who work
/// the queue in a process.
final class PauseLook: Sendable {
  private struct State {
    var isPaused = false
    var looked: ContinuousClock.Instant?
    /// The question that is under way: who asks meanwhile gets its answer, not an older one.
    var asking: Task<Result<Bool, QueueError>, Never>?
  }

  private static let interval: Duration = .milliseconds(50)
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
    let (known, asking) = state.withLock { state -> (Bool, Task<Result<Bool, QueueError>, Never>?) in
      if let looked = state.looked, looked.duration(to: .now) < Self.interval { return (state.isPaused, nil) }
      let asking = state.asking ?? Task { await self.ask() }
      state.asking = asking
      return (false, asking)
    }
    guard let asking else { return known }
    return try await asking.value.get()
  }

  private func ask() async -> Result<Bool, QueueError> {
    let answer: Result<Bool, QueueError>
    do throws(QueueError) {
      answer = .success(try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer != 0)
    } catch {
      answer = .failure(error)
    }
    state.withLock { state in
      state.asking = nil
      state.looked = nil
      if case .success(let isPaused) = answer { (state.isPaused, state.looked) = (isPaused, .now) }
    }
    return answer
  }
}
