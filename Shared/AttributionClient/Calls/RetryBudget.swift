import Synchronization

/// Limits retries to a tenth of the regular requests, so that they cannot multiply an overload.
final class RetryBudget: Sendable {
  /// The budget in tenths of a request. These are whole numbers, so that ten calls earn exactly one retry.
  private let tenths: Mutex<Int>
  private static let maxTenths = 1000

  /// A new client has an initial budget.
  init(initial: Int = 10) { tenths = Mutex(initial * 10) }

  /// Records a regular request.
  func earn() { tenths.withLock { $0 = min($0 + 1, Self.maxTenths) } }

  /// Spends one retry. Returns false if the budget is used up.
  func spend() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= 10 else { return false }
      tenths -= 10
      return true
    }
  }
}
