import EventLoops
import Synchronization

/// A value that is due at a time: the best that there is then, or what is given before.
final class DueAnswer<Value: Sendable>: Sendable {
  private struct State {
    var waiting: CheckedContinuation<Value, Never>?
    var best: Value?
    var isOver = false
    var timer: LoopTimer?
  }

  private let state = Mutex(State())
  private let otherwise: Value

  private init(otherwise: Value) { self.otherwise = otherwise }

  /// Runs `make`, which may go on after the deadline, and answers what it gives, or at the deadline what it holds; `otherwise` where it holds
  /// nothing yet.
  static func wait(
    until deadline: ContinuousClock.Instant, otherwise: Value, _ make: @escaping @Sendable (DueAnswer) async -> Void
  ) async -> Value {
    let due = DueAnswer(otherwise: otherwise)
    return await withCheckedContinuation { continuation in
      due.state.withLock { $0.waiting = continuation }
      due.hurry(to: deadline)
      // Not a child: nothing that hangs may hold up the answer.
      if let executor = EventLoopExecutor.ofThisThread {
        Task(executorPreference: executor) { await make(due) }
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
  func hurry(to deadline: ContinuousClock.Instant) {
    let timer = LoopTimer(after: ContinuousClock.now.duration(to: deadline)) { self.end() }
    let last = state.withLock { state in
      let last = state.isOver ? timer : state.timer
      if !state.isOver { state.timer = timer }
      return last
    }
    last?.cancel()
  }

  private func end() {
    let (waiting, value, timer) = state.withLock { state in
      defer {
        state.isOver = true
        state.waiting = nil
        state.timer = nil
      }
      return (state.waiting, state.best ?? otherwise, state.timer)
    }
    timer?.cancel()
    waiting?.resume(returning: value)
  }
}
