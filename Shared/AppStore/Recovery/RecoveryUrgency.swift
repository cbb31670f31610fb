/// The urgency of a recovered notification: those that grant or withdraw access come first.
///
/// All notifications are queued as soon as their page was read. A less urgent one is delayed until the whole window was read and the more
/// urgent ones were released. So the order is right without a second request to Apple (``HistorySlices``).
public enum RecoveryUrgency: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// `DID_RENEW`, any subtype: a customer who paid would lose access.
  case renewed
  /// `EXPIRED`, any subtype.
  case ended
  /// `REFUND` and `REVOKE`: access must end. Also `CONSUMPTION_REQUEST`, which must be answered within twelve hours.
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

  /// The longest time for which a notification is held back, milliseconds. Usually the recovery releases all of them in order once the
  /// window was read. If it stops before, these times still keep the order.
  ///
  /// - Parameter limit: the time for the least urgent ones. It must be shorter than the wait before a gap is reported, so that a
  ///   notification that is held back does not count as missing.
  public func hold(limit: Int64) -> Int64 {
    let maxHold = max(0, limit)
    return switch self {
    case .renewed: 0
    case .ended: maxHold / 10 * 8
    case .withdrawn: maxHold / 10 * 9
    case .other: maxHold
    }
  }
}
