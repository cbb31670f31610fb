/// The urgency of an outage's notifications: those that grant or withdraw access come first.
///
/// All notifications that were read are stored at once. Less urgent ones are worked after the more urgent ones of the whole window were
/// read, so the order is right without a second request to Apple (see ``HistorySlices``).
public enum RecoveryUrgency: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// `DID_RENEW`, any subtype: a customer who paid would lose access.
  case renewed
  /// `EXPIRED`, any subtype.
  case ended
  /// `REFUND`, `REVOKE`: access must end. Also the request that must be answered within twelve hours.
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

  /// The longest time for which a notification is held back, milliseconds. Usually all are released in order once the window was read;
  /// these times keep the order if no instance releases them.
  ///
  /// - Parameter limit: the longest time; less than the wait before a gap is reported, so that a held notification does not count as
  ///   missing.
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
