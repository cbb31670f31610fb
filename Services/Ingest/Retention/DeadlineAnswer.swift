import EventLoops
import Synchronization

/// A value that work computes, and that is returned as soon as it is final. At a deadline, the best value so far is returned instead, and
/// the work continues. The deadline is exact to ``LoopDeadlines/interval``.
///
///     let answer = await DeadlineAnswer.wait(until: .now + .milliseconds(500), otherwise: fallback) { answer in
///       answer.setBest(await decide())     // returned at the deadline
///       answer.finish(await store())       // returned at once
///     }
final class DeadlineAnswer<Value: Sendable>: Sendable {
  private struct State {
    /// The caller of `wait`; nil after the value was returned.
    var waiting: CheckedContinuation<Value, Never>?
    var best: Value?
    var deadline: ContinuousClock.Instant
    /// True after the value was returned.
    var hasEnded = false
  }

  private let state: Mutex<State>
  private let otherwise: Value

  private init(otherwise: Value, deadline: ContinuousClock.Instant) {
    self.otherwise = otherwise
    state = Mutex(State(deadline: deadline))
  }

  /// Runs `work` and returns the value with which it calls ``finish(_:)``, or at the deadline the last one with which it called
  /// ``setBest(_:)``.
  ///
  /// - Parameters:
  ///   - otherwise: the value that is returned at the deadline if the work has set none.
  ///   - work: may continue after the deadline.
  static func wait(
    until deadline: ContinuousClock.Instant, otherwise: Value, _ work: @escaping @Sendable (DeadlineAnswer) async -> Void
  ) async -> Value {
    let answer = DeadlineAnswer(otherwise: otherwise, deadline: deadline)
    return await withCheckedContinuation { continuation in
      answer.state.withLock { $0.waiting = continuation }
      LoopDeadlines.add(answer)
      // The work is not a child task, so that a call that hangs does not delay the answer. It stays on this event loop if there is one.
      if let executor = EventLoopExecutor.ofThisThread {
        Task.immediate(executorPreference: executor) { await work(answer) }
      } else {
        Task { await work(answer) }
      }
    }
  }

  /// Sets the value that is returned at the deadline. Returns false, and sets nothing, if a value was already returned.
  @discardableResult
  func setBest(_ value: Value) -> Bool {
    state.withLock { state in
      if !state.hasEnded { state.best = value }
      return !state.hasEnded
    }
  }

  /// Returns a value at once, unless one was already returned.
  func finish(_ value: Value) {
    setBest(value)
    end()
  }

  /// Replaces the deadline.
  func replaceDeadline(with deadline: ContinuousClock.Instant) { state.withLock { $0.deadline = deadline } }

  private func end() {
    let (waiting, value) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.waiting = nil
      }
      return (state.waiting, state.best ?? otherwise)
    }
    waiting?.resume(returning: value)
  }
}

extension DeadlineAnswer: Expiring {
  /// Nil, because the deadline can be replaced, so it must be compared each time.
  var dueAt: ContinuousClock.Instant? { nil }

  func endIfDue(at now: ContinuousClock.Instant) -> Bool {
    let (hasEnded, isDue) = state.withLock { ($0.hasEnded, $0.deadline <= now) }
    if !hasEnded, isDue { end() }
    return hasEnded || isDue
  }
}
