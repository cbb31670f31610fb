/// What of an outage is wanted first: the notifications that give or take access.
///
/// Everything read is stored at once. What is not urgent is only worked later, when the urgent ones of the rest of the window are
/// likely to be in: so the order is right without asking Apple for anything twice (``HistorySlices`` says why).
public enum RecoveryUrgency: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// `DID_RENEW`, any subtype: a customer who paid and would be locked out.
  case renewed
  /// `EXPIRED`, any subtype.
  case ended
  /// `REFUND`, `REVOKE`: access that must end; and the request that has to be answered within twelve hours.
  case withdrawn
  case other

  public init(notificationType: String?) {
    switch notificationType {
    case "DID_RENEW": self = .renewed
    case "EXPIRED": self = .ended
    case "REFUND", "REVOKE", "CONSUMPTION_REQUEST": self = .withdrawn
    default: self = .other
    }
  }

  public static func < (left: RecoveryUrgency, right: RecoveryUrgency) -> Bool { left.rawValue < right.rawValue }

  /// How long a notification is held back, milliseconds: until the pages that are left are read.
  ///
  /// - Parameters:
  ///   - pagesLeft: nil when it is not known; then only the notifications of one page are ordered.
  ///   - pagesPerSecond: how fast pages came until now.
  ///   - most: the longest time; below the patience with gaps, so that a held notification is not taken for a missing one.
  public func hold(pagesLeft: Double?, pagesPerSecond: Double, most: Int64) -> Int64 {
    guard self != .renewed, let pagesLeft, pagesLeft > 0, pagesPerSecond > 0 else { return 0 }
    let needed = pagesLeft / pagesPerSecond * 1000
    // The ends after the renewals, what withdraws after these, the rest last.
    let spread: Double = self == .ended ? 0.02 : self == .withdrawn ? 0.04 : 0.06
    return min(Int64(min(needed * (1 + spread), 1e12)), max(0, most))
  }
}
