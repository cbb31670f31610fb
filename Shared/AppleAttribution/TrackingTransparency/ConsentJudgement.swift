/// Whether one item may leave with everything in it, judged when it is about to.
///
/// Consent is needed at receipt *and* at sending; the stricter wins. Only an item held while the user was being asked
/// is judged by the answer, if the answer came before the wait ran out.
public enum ConsentJudgement {
  /// - Parameters:
  ///   - atReceipt: what the item itself said.
  ///   - heldUntil: the deadline of the wait that held it, in milliseconds since 1970; nil when it was not held.
  ///   - current: the install's last known status; nil when none is known.
  /// - Returns: the status the item leaves with; consent exactly when it is ``ATTStatus/authorized``.
  public static func status(atReceipt: ATTStatus, heldUntil: Int64?, current: ATTStatusRecord?) -> ATTStatus {
    if let heldUntil, atReceipt == .notDetermined {
      guard let current else { return atReceipt }
      // Silence until the deadline was the answer for what was held: a later yes does not reach back, and one that is
      // repeated later was given when it was first told.
      return current.status.isConsent && current.since > heldUntil ? atReceipt : current.status
    }
    guard atReceipt.isConsent, let current else { return atReceipt }
    return current.status
  }
}
