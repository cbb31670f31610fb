/// The state after each notification type (notificationType). Which state each type follows is in `SubscriptionFold+Gaps.swift`: another
/// state before it means that a notification is missing. If a notification has Apple's own status, that status decides (``SubscriptionFold``).
extension SubscriptionFold {
  /// True if a paid period begins with the step.
  static func beginsPeriod(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", _), ("DID_RENEW", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("OFFER_REDEEMED", nil),
      ("OFFER_REDEEMED", "INITIAL_BUY"), ("OFFER_REDEEMED", "RESUBSCRIBE"), ("OFFER_REDEEMED", "UPGRADE"):
      true
    default: false
    }
  }

  /// Changes the state by the step's type. The facts of the transaction are copied afterwards (`copyFacts` in `SubscriptionFold.swift`).
  static func change(_ state: inout SubscriptionState, by step: LifecycleStep) {
    if beginsPeriod(step) {
      // If a commitment is cancelled, its periods are still renewed until its end.
      let staysCancelled = state.sawRenewalDisabled && (step.renewal?.autoRenew == false || step.renewal?.commitmentRenews == false)
      begin(&state)
      state.sawRenewalDisabled = staysCancelled
      return
    }
    switch (step.type, step.subtype) {
    case ("OFFER_REDEEMED", _):
      // A downgrade begins with the next period, so the subscription will be renewed.
      state.autoRenew = true
      if state.status == .activeNotRenewing { state.status = .active }
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"):
      state.autoRenew = false
      state.sawRenewalDisabled = true
      state.renewedWhileOff = false
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"):
      state.autoRenew = true
      state.sawRenewalDisabled = false
      state.renewedWhileOff = false
      if state.status == .activeNotRenewing { state.status = .active }
    case ("DID_CHANGE_RENEWAL_STATUS", _):
      // After a price notice this type has no subtype. The renewal information shows whether renewal is on.
      if let renews = step.renewal?.autoRenew { state.sawRenewalDisabled = !renews }
    case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"):
      state.status = .gracePeriod
      state.sawFailure = true
      state.sawGracePeriod = true
    case ("DID_FAIL_TO_RENEW", _):
      state.status = .billingRetry
      state.sawFailure = true
    case ("GRACE_PERIOD_EXPIRED", _): state.status = .billingRetry
    case ("EXPIRED", _):
      state.status = .expired
      state.sawEnd = true
    case ("PRICE_INCREASE", let subtype):
      // Only a price increase that needs the customer's consent can end the subscription.
      if subtype != "ACCEPTED" { state.sawPriceIncrease = true }
      state.sawPriceNotice = true
    case ("REFUND", _):
      guard let id = step.transaction?.transactionId else { break }
      if showsUnknownPeriod(state, step) {
        beginUnknownPeriod(&state, step)
      } else if keepsSubscription(step) {
        // If the current period is not known, the renewal information still has its end.
        if state.transactionId == nil { state.expiresDate = step.renewal?.renewalDate ?? state.expiresDate }
      } else if state.transactionId.map({ $0 == id }) ?? !state.refunded.contains(id) {
        state.status = .revoked
        state.sawEnd = true
      }
      if !state.refunded.contains(id) { state.refunded.append(id) }
      // Apple turns renewal off after a refund that was requested within the app.
      if step.renewal?.autoRenew == false { state.sawRenewalDisabled = true }
    case ("REFUND_REVERSED", _):
      guard let id = step.transaction?.transactionId else { break }
      state.refunded.removeAll { $0 == id }
      guard state.status == .revoked, state.transactionId == nil || id == state.transactionId else { break }
      // The subscription continues as if it had never been refunded.
      let end = step.transaction?.expiresDate ?? state.expiresDate
      state.status = end.map { $0 > step.signedDate } ?? true ? .active : .expired
      state.revocationDate = nil
    case ("REVOKE", _):
      state.status = .revoked
      state.sawEnd = true
    // Other types, such as MIGRATION and METADATA_UPDATE, change no status. RENEWAL_EXTENDED has the new end in its transaction, whose
    // facts are copied afterwards.
    default: break
    }
  }

  /// True if the step is a refund that does not end the subscription, because Apple's status is 1 (active), 3 (billing retry) or 4 (grace
  /// period). It is 5 if the refund ended the subscription. With status 1, the end in the renewal information, if there is one, must also
  /// be later than that of the refunded period; otherwise the refunded period is the current one.
  private static func keepsSubscription(_ step: LifecycleStep) -> Bool {
    guard step.type == "REFUND", let status = step.appleStatus, [1, 3, 4].contains(status) else { return false }
    guard status == 1, let end = step.transaction?.expiresDate, let next = step.renewal?.renewalDate else { return true }
    return next > end
  }

  /// True if the step is a refund that shows a period that no step announced: the subscription is active, although no period after the
  /// refunded one is known.
  static func showsUnknownPeriod(_ state: SubscriptionState, _ step: LifecycleStep) -> Bool {
    guard keepsSubscription(step), step.appleStatus == 1, state.transactionId != nil, let refunded = step.transaction else { return false }
    return isNewest(refunded, state)
  }

  /// True if the step's transaction is refunded, and the refund did not end the subscription.
  static func continuesAfterRefund(_ step: LifecycleStep, _ last: SubscriptionState?) -> Bool {
    if keepsSubscription(step) { return true }
    guard let last, last.status != .revoked, let id = step.transaction?.transactionId else { return false }
    return last.refunded.contains(id)
  }

  /// Begins a period of which at most the end is known. If its end is unknown too, it counts as ended at once, so that the check for
  /// silence asks Apple for the status.
  private static func beginUnknownPeriod(_ state: inout SubscriptionState, _ step: LifecycleStep) {
    begin(&state)
    state.transactionId = nil
    state.purchaseDate = nil
    state.expiresDate = step.renewal?.renewalDate ?? max(step.transaction?.expiresDate ?? step.signedDate, step.signedDate)
    state.factsSignedDate = nil
  }

  /// Begins a paid period. Failures and other steps of the previous period no longer count.
  private static func begin(_ state: inout SubscriptionState) {
    // A new period turns renewal on, and Apple may announce that shortly after.
    state.renewedWhileOff = state.autoRenew == false
    state.status = .active
    state.autoRenew = true
    state.revocationDate = nil
    state.gracePeriodExpiresDate = nil
    state.sawFailure = false
    state.sawGracePeriod = false
    state.sawRenewalDisabled = false
    state.sawPriceIncrease = false
    state.sawEnd = false
  }
}
