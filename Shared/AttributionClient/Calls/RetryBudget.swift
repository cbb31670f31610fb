import Synchronization

/// Bounds extra requests to a tenth of the regular ones, so that retries cannot multiply an overload.
final class RetryBudget: Sendable {
  /// In tenths of a request: whole numbers, so that ten calls buy exactly one retry.
  private let tenths: Mutex<Int>
  private static let most = 1000

  /// A fresh client may retry a few times before it has earned it.
  init(initial: Int = 10) { tenths = Mutex(initial * 10) }

  /// A regular request was made.
  func earn() { tenths.withLock { $0 = min($0 + 1, Self.most) } }

  /// Whether one more retry may be made now.
  func spend() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= 10 else { return false }
      tenths -= 10
      return true
    }
  }
}
