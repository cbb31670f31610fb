/// What of an outage is wanted first: the notifications that give or take access.
///
/// Everything read is stored at once. What is less urgent is only worked later, when the more urgent ones of the rest of the window
/// are in: so the order is right without asking Apple for anything twice (``HistorySlices`` says why).
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

  /// How long a notification is held back at the longest, milliseconds: usually all of them are let go in their order as soon as the
  /// window is read. The times keep that order when nobody is left to do it.
  ///
  /// - Parameter most: the longest time; below the patience with gaps, so that a held notification is not taken for a missing one.
  public func hold(most: Int64) -> Int64 {
    let longest = max(0, most)
    return switch self {
    case .renewed: 0
    case .ended: longest / 10 * 8
    case .withdrawn: longest / 10 * 9
    case .other: longest
    }
  }
}
