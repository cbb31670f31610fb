import EventLoops
import Synchronization

/// A value that is due at a time: the best that there is then, or what is given before. A deadline is kept to ``LoopDeadlines/interval``.
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

  /// Runs `make`, which may go on after the deadline, and answers what it gives, or at the deadline what it holds; `otherwise` where it holds
  /// nothing yet.
  static func wait(
    until deadline: ContinuousClock.Instant, otherwise: Value, _ make: @escaping @Sendable (DeadlineAnswer) async -> Void
  ) async -> Value {
    let due = DeadlineAnswer(otherwise: otherwise, deadline: deadline)
    return await withCheckedContinuation { continuation in
      due.state.withLock { $0.waiting = continuation }
      LoopDeadlines.add(due)
      // Not a child: nothing that hangs may hold up the answer.
      if let executor = EventLoopExecutor.ofThisThread {
        Task.immediate(executorPreference: executor) { await make(due) }
      } else {
        Task { await make(due) }
      }
    }
  }

  /// The best so far; false where the answer is given already.
  @discardableResult
  func hold(_ value: Value) -> Bool {
    state.withLock { state in
      if !state.isOver { state.best = value }
      return !state.isOver
    }
  }

  /// The answer.
  func give(_ value: Value) {
    hold(value)
    end()
  }

  /// Answers at that time, in place of any other that was said.
  func hurry(to deadline: ContinuousClock.Instant) { state.withLock { $0.deadline = deadline } }

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
  func endIfDue(at now: ContinuousClock.Instant) -> Bool {
    let (isOver, isDue) = state.withLock { ($0.isOver, $0.deadline <= now) }
    if !isOver, isDue { end() }
    return isOver || isDue
  }
}
