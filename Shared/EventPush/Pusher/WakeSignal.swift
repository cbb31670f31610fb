import Synchronization

/// Wakes one waiting task. A signal that arrives while no task waits is kept for the next wait.
final class WakeSignal: Sendable {
  private struct State {
    var isSignaled = false
    var waiting: CheckedContinuation<Void, Never>?
    var number: UInt64 = 0
  }
  private let state = Mutex(State())

  func wake() {
    let waiting = state.withLock { state in
      let waiting = state.waiting
      state.waiting = nil
      state.isSignaled = waiting == nil
      return waiting
    }
    waiting?.resume()
  }

  /// Returns when ``wake()`` is called or when the time is over.
  func wait(for time: Duration) async {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    let timer = Task {
      try? await Task.sleep(for: time)
      self.end(number)
    }
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        if state.isSignaled {
          state.isSignaled = false
          return true
        }
        state.waiting = continuation
        return false
      }
      if passes { continuation.resume() }
    }
    timer.cancel()
  }

  /// Ends a wait that timed out. If the timer fires before the continuation is registered, the signal stays set and the wait ends at once.
  private func end(_ number: UInt64) {
    guard !Task.isCancelled else { return }
    let waiting = state.withLock { state in
      guard state.number == number else { return nil as CheckedContinuation<Void, Never>? }
      let waiting = state.waiting
      state.waiting = nil
      if waiting == nil { state.isSignaled = true }
      return waiting
    }
    waiting?.resume()
  }
}
