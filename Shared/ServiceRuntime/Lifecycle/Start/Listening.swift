import Synchronization

/// Counts started listeners, and calls a closure when all have started.
final class Listening: Sendable {
  private let left: Mutex<Int>
  private let all: @Sendable () -> Void

  init(expected: Int, all: @escaping @Sendable () -> Void) {
    left = Mutex(expected)
    self.all = all
  }

  func one() {
    let none = left.withLock { left in
      left -= 1
      return left == 0
    }
    if none { all() }
  }
}
