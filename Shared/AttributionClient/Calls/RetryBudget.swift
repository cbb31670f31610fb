import Synchronization

/// Limits retries to a tenth of the calls, so that retries cannot multiply the load of an overloaded service.
final class RetryBudget: Sendable {
  /// The budget in tenths of a retry. These are whole numbers, so that ten calls earn exactly one retry.
  private let tenths: Mutex<Int>
  /// At most 100 retries are saved up.
  private static let maxTenths = 1000

  /// - Parameter initial: the number of retries that a new client has, before it has made any call.
  init(initial: Int = 10) { tenths = Mutex(initial * 10) }

  /// Records a call.
  func earn() { tenths.withLock { $0 = min($0 + 1, Self.maxTenths) } }

  /// Spends one retry. Returns false, and spends nothing, if less than one is left.
  func spend() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= 10 else { return false }
      tenths -= 10
      return true
    }
  }
}
