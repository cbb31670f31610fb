import Synchronization

/// Wakes one waiting task. A signal that arrives while no task waits is stored for the next wait.
package final class WakeSignal: Sendable {
  private struct State {
    var isSignaled = false
    var waiting: (number: UInt64, continuation: CheckedContinuation<Void, Never>)?
    var number: UInt64 = 0
    /// The number of the wait that timed out before its continuation was registered.
    var over: UInt64 = 0
  }
  private let state = Mutex(State())

  package init() {}

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
        let passes = state.withLock { state in
          if state.isSignaled || Task.isCancelled || state.over == number {
            state.isSignaled = false
            return true
          }
          state.waiting = (number, continuation)
          return false
        }
        if passes { continuation.resume() }
      }
    } onCancel: {
      end(number)
    }
    timer.cancel()
  }

  private func end(_ number: UInt64) {
    let waiting = state.withLock { state in
      guard state.waiting?.number == number else {
        if state.number == number { state.over = number }
        return nil as CheckedContinuation<Void, Never>?
      }
      let waiting = state.waiting
      state.waiting = nil
      return waiting?.continuation
    }
    waiting?.resume()
  }
}
