import Synchronization

/// Wakes one waiting task. A signal that arrives while no task waits is stored for the next wait.
package final class WakeSignal: Sendable {
  private struct State {
    var isSignaled = false
    /// The wait under way.
    var waiting: (number: UInt64, continuation: CheckedContinuation<Void, Never>)?
    /// The number of the last wait.
    var number: UInt64 = 0
    /// The number of the wait that ended before its continuation was registered, because its time was over or its task was cancelled.
    var endedEarly: UInt64 = 0
  }
  private let state = Mutex(State())

  package init() {}

  /// Wakes the waiting task, or the next one that waits.
  package func wake() {
    let waiting = state.withLock { state in
      let waiting = state.waiting
      state.waiting = nil
      if waiting == nil { state.isSignaled = true }
      return waiting
    }
    waiting?.continuation.resume()
  }

  /// Returns when ``wake()`` is called, when the time is over, or when the task is cancelled.
  package func wait(for time: Duration) async {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    let timer = Task {
      try? await Task.sleep(for: time)
      self.end(number)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let returnsAtOnce = state.withLock { state in
          if state.isSignaled || Task.isCancelled || state.endedEarly == number {
            state.isSignaled = false
            return true
          }
          state.waiting = (number, continuation)
          return false
        }
        if returnsAtOnce { continuation.resume() }
      }
    } onCancel: {
      end(number)
    }
    timer.cancel()
  }

  /// Ends a wait, unless it has been woken.
  private func end(_ number: UInt64) {
    let waiting = state.withLock { state in
      guard state.waiting?.number == number else {
        if state.number == number { state.endedEarly = number }
        return nil as CheckedContinuation<Void, Never>?
      }
      let waiting = state.waiting
      state.waiting = nil
      return waiting?.continuation
    }
    waiting?.resume()
  }
}
