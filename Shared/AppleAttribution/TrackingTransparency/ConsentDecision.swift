/// Decides whether an item may be sent with all its data, at the time of sending.
///
/// Consent is needed at receipt *and* at sending; the stricter one counts. For an item that was held while the user was being asked, the
/// answer counts, if it came before the deadline.
public enum ConsentDecision {
  /// - Parameters:
  ///   - atReceipt: the item's own status.
  ///   - heldUntil: the deadline until which it was held, milliseconds since 1970; nil if it was not held.
  ///   - current: the install's last known status. It is stored before the item is accepted, so nil means that it was lost. Then there is
  ///     no consent.
  /// - Returns: the status with which the item is sent. It is consent exactly if it is ``ATTStatus/authorized``.
  public static func status(atReceipt: ATTStatus, heldUntil: Int64?, current: ATTStatusRecord?) -> ATTStatus {
    if let heldUntil, atReceipt == .notDetermined {
      guard let current else { return atReceipt }
      // Consent that came after the deadline does not count for held items. `since` is the time since which the status has not changed, so
      // a repeated consent counts from its first receipt.
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
  /// - Returns: the stricter of the two. A later consent does not count for a token that came without.
  public static func status(ofToken atReceipt: ATTStatus, current: ATTInstall?) -> ATTStatus {
    guard atReceipt.isConsent, let record = current?.record else { return atReceipt }
    return record.status
  }
}
