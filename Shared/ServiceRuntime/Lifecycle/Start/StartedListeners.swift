import Synchronization

/// Counts the listeners that have started, and calls a closure when all have.
final class StartedListeners: Sendable {
  private let remaining: Mutex<Int>
  private let onAllStarted: @Sendable () -> Void

  init(expected: Int, onAllStarted: @escaping @Sendable () -> Void) {
    remaining = Mutex(expected)
    self.onAllStarted = onAllStarted
  }

  /// Called once by each listener.
  func add() {
    let areAllStarted = remaining.withLock { remaining in
      remaining -= 1
      return remaining == 0
    }
    if areAllStarted { onAllStarted() }
  }
}
