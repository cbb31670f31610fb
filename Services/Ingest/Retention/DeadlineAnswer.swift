import EventLoops
import Synchronization

/// A value that is returned when it is final, or at a deadline with the best value so far. The deadline is exact to
/// ``LoopDeadlines/interval``.
final class DeadlineAnswer<Value: Sendable>: Sendable {
  private struct State {
    var waiting: CheckedContinuation<Value, Never>?
    var best: Value?
    var deadline: ContinuousClock.Instant
    var isOver = false
  }

  private let state: Mutex<State>
  private let otherwise: Value

  private init(otherwise: Value, deadline: ContinuousClock.Instant) {
    self.otherwise = otherwise
    state = Mutex(State(deadline: deadline))
  }

  /// Runs `make` and returns the value that it gives, or at the deadline the value that it holds; `otherwise` if it holds none yet. `make`
  /// may continue after the deadline.
  static func wait(
    until deadline: ContinuousClock.Instant, otherwise: Value, _ make: @escaping @Sendable (DeadlineAnswer) async -> Void
  ) async -> Value {
    let due = DeadlineAnswer(otherwise: otherwise, deadline: deadline)
    return await withCheckedContinuation { continuation in
      due.state.withLock { $0.waiting = continuation }
      LoopDeadlines.add(due)
      // Not a child task, so that a call that hangs does not delay the answer.
      if let executor = EventLoopExecutor.ofThisThread {
        Task.immediate(executorPreference: executor) { await make(due) }
      } else {
        Task { await make(due) }
      }
    }
  }

  /// Stores the best value so far. False if the answer was already returned.
  @discardableResult
  func hold(_ value: Value) -> Bool {
    state.withLock { state in
      if !state.isOver { state.best = value }
      return !state.isOver
    }
  }

  /// Returns a value as the final answer.
  func give(_ value: Value) {
    hold(value)
    end()
  }

  /// Replaces the deadline.
  func replaceDeadline(with deadline: ContinuousClock.Instant) { state.withLock { $0.deadline = deadline } }

  private func end() {
    let (waiting, value) = state.withLock { state in
      defer {
        state.isOver = true
        state.waiting = nil
      }
      return (state.waiting, state.best ?? otherwise)
    }
    waiting?.resume(returning: value)
  }
}

extension DeadlineAnswer: Expiring {
  /// Nil, because the deadline can be replaced.
  var dueAt: ContinuousClock.Instant? { nil }

  func endIfDue(at now: ContinuousClock.Instant) -> Bool {
    let (isOver, isDue) = state.withLock { ($0.isOver, $0.deadline <= now) }
    if !isOver, isDue { end() }
    return isOver || isDue
  }
}
