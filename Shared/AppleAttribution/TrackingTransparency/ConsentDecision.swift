/// Decides, at the time of sending, whether an item may be sent with all of its data.
///
/// Consent is needed both at receipt and at sending. For an item that was held while the app waited for the user's answer, the answer
/// counts instead, if it came before the deadline. If in doubt, there is no consent: ``ATTStatus`` decides about missing, malformed and
/// contradictory statuses.
public enum ConsentDecision {
  /// - Parameters:
  ///   - atReceipt: the status that the item itself reports.
  ///   - heldUntil: the deadline until which the item was held, milliseconds since 1970; nil if it was not held.
  ///   - current: the install's last known status. It is stored before an item is accepted, so nil means that it was lost. Then there is no
  ///     consent.
  /// - Returns: the status with which the item is sent. All data may be sent only if it is ``ATTStatus/authorized``.
  public static func status(atReceipt: ATTStatus, heldUntil: Int64?, current: ATTStatusRecord?) -> ATTStatus {
    if let heldUntil, atReceipt == .notDetermined {
      guard let current else { return atReceipt }
      // Consent that came after the deadline does not count for items that were held. A consent that is reported again keeps its `since`,
      // the time of its first receipt.
      return current.status.isConsent && current.since > heldUntil ? atReceipt : current.status
    }
    guard atReceipt.isConsent else { return atReceipt }
    return current?.status ?? .unavailable
  }

  /// Decides whether the times of an attribution record may be passed on (AdServices: `clickDate` is only in detailed records).
  ///
  /// - Parameters:
  ///   - atReceipt: the status that came with the token.
  ///   - current: the install's state when the record is passed on; nil if no status of the install was ever reported.
  /// - Returns: the stricter of the two statuses. A later consent does not count for a token that came without consent.
  public static func status(ofToken atReceipt: ATTStatus, current: ATTInstall?) -> ATTStatus {
    guard atReceipt.isConsent, let record = current?.record else { return atReceipt }
    return record.status
  }
}
