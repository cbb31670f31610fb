/// Silence: a subscription had no notification for a day (``SubscriptionGapRule/silenceAfter``) after the end of its period, although one about a
/// renewal or the end is due. The service's `SilenceSweep` searches for it.
extension SubscriptionHistory {
  /// The gap of silence at a given time; nil if there is none.
  ///
  /// - Parameter silence: the time without notifications after the end of the period that counts as a gap, milliseconds.
  public func silence(at now: Int64, after silence: Int64 = SubscriptionGapRule.silenceAfter) -> SubscriptionGap? {
    guard let due = silenceDue(after: silence), now > due, let state, let end = state.noticeDue else { return nil }
    return SubscriptionGap(
      rules: [.silence],
      missing: state.status == .billingRetry ? "DID_RENEW/BILLING_RECOVERY or EXPIRED/BILLING_RETRY" : "DID_RENEW or EXPIRED",
      after: state.lastSignedDate, shownBy: "", before: end)
  }

  /// The time at which silence becomes a gap, milliseconds since 1970; nil if no notification is expected.
  public func silenceDue(after silence: Int64 = SubscriptionGapRule.silenceAfter) -> Int64? {
    // If the subscription continues under another id, notifications are expected under that id.
    guard continuations.isEmpty, let end = state?.noticeDue, !settledGaps.contains("\(SubscriptionGap.silencePrefix)\(end)") else {
      return nil
    }
    // If Apple's status was requested after the end and showed nothing new, it is requested again after the same time.
    let lastObservation = steps.last.map { $0.isObservation ? $0.signedDate : 0 } ?? 0
    let (due, overflow) = max(end, lastObservation).addingReportingOverflow(silence)
    return overflow ? nil : due
  }
}
