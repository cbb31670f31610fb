import AttributionProtocol
import EventLoops
import Synchronization

/// The work of a call, with the call's deadline. The call is answered with the result of the work, or at the deadline with an error.
///
/// At the deadline the work is cancelled, and the answer does not wait for its end, because some work does not react to cancellation: a
/// command that was sent to Redis cannot be withdrawn, for example. Such work ends later, and its result is not sent. If the call has an
/// `Idempotency-Key`, the result is stored all the same (``IdempotentCall``).
final class TimedCall: Expiring {
  /// A response and its result code.
  typealias Answer = (HTTPResponse, String)
  private typealias Outcome = Result<Answer, RPCError>

  private struct State {
    var isOver = false
    /// The outcome, if it is known before ``TimedCall/answer(_:)`` waits for it.
    var outcome: Outcome?
    var waiting: CheckedContinuation<Outcome, Never>?
    var work: Task<Void, Never>?
    var isCancelled = false
  }

  private let deadline: ContinuousClock.Instant
  private let state = Mutex(State())

  /// The code that creates a call must add it to `LoopDeadlines`, which calls ``endIfDue(at:)``.
  init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

  /// Runs the work in a task of its own. Returns its result, or throws at the deadline. Must be called once.
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

  /// Cancels the work. The call is still answered with what the work returns.
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
    // The work is cancelled before the call is answered, so that no new step of it begins after the answer.
    if cancelsWork { work?.cancel() }
    waiting?.resume(returning: outcome)
  }
}

extension RPCError {
  /// The error of a call whose deadline has passed.
  static let timeIsOver = RPCError(.deadlineExceeded, "the time for this call is over")
}
