import AttributionProtocol
import EventLoops
import Synchronization

/// The work of a call and its deadline. The answer is the result of the work, or at the deadline an error.
///
/// The answer does not wait for cancelled work, because some work does not react to cancellation: for example, a command
/// that was sent to Redis cannot be taken back. Such work ends later, and its response is not sent. A result under an
/// `Idempotency-Key` is stored all the same (``IdempotentCall``).
final class TimedCall: Expiring {
  /// A response and its code.
  typealias Answer = (HTTPResponse, String)
  private typealias Outcome = Result<Answer, RPCError>

  private struct State {
    var isOver = false
    /// The outcome, if there is one before ``TimedCall/answer(_:)`` waits for it.
    var outcome: Outcome?
    var waiting: CheckedContinuation<Outcome, Never>?
    var work: Task<Void, Never>?
    var isCancelled = false
  }

  private let deadline: ContinuousClock.Instant
  private let state = Mutex(State())

  /// The caller must add the call to `LoopDeadlines`.
  init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

  /// Runs the work in a task of its own, and returns its result or throws at the deadline. Must be called once.
  func answer(_ work: @escaping @Sendable () async throws(RPCError) -> Answer) async throws(RPCError) -> Answer {
    if !state.withLock({ $0.isOver }) { start(work) }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
        let outcome = state.withLock { state -> Outcome? in
          if state.outcome == nil { state.waiting = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      cancel()
    }
    return try outcome.get()
  }

  private func start(_ work: @escaping @Sendable () async throws(RPCError) -> Answer) {
    let task = Task {
      do throws(RPCError) {
        self.end(.success(try await work()))
      } catch {
        self.end(.failure(error))
      }
    }
    let isCancelled = state.withLock { state -> Bool in
      if !state.isOver { state.work = task }
      return state.isCancelled || state.isOver
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the work. The answer is still what the work returns.
  func cancel() {
    let work = state.withLock { state -> Task<Void, Never>? in
      state.isCancelled = true
      return state.work
    }
    work?.cancel()
  }

  var dueAt: ContinuousClock.Instant? { deadline }

  func endIfDue(at now: ContinuousClock.Instant) -> Bool {
    guard deadline <= now else { return state.withLock { $0.isOver } }
    end(.failure(.timeIsOver), cancelsWork: true)
    return true
  }

  private func end(_ outcome: Outcome, cancelsWork: Bool = false) {
    let (work, waiting) = state.withLock { state -> (Task<Void, Never>?, CheckedContinuation<Outcome, Never>?) in
      guard !state.isOver else { return (nil, nil) }
      state.isOver = true
      if state.waiting == nil { state.outcome = outcome }
      defer { (state.work, state.waiting) = (nil, nil) }
      return (state.work, state.waiting)
    }
    // Cancelled before the answer is given; otherwise the work could go on for a moment after it.
    if cancelsWork { work?.cancel() }
    waiting?.resume(returning: outcome)
  }
}

extension RPCError {
  /// The deadline of a call has passed.
  static let timeIsOver = RPCError(.deadlineExceeded, "the time for this call is over")
}
