/// The state after each notification type: the table of *notificationType*.
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

  static func change(_ state: inout SubscriptionState, by step: LifecycleStep, isFirst: Bool) {
    if beginsPeriod(step) {
      // Within a cancelled commitment, periods are renewed until its end.
      let staysCancelled = state.sawRenewalDisabled && (step.renewal?.autoRenew == false || step.renewal?.commitmentRenews == false)
      begin(&state)
      state.sawRenewalDisabled = staysCancelled
      return
    }
    switch (step.type, step.subtype) {
    case ("OFFER_REDEEMED", _):
      // A downgrade for the next period means that it will be renewed.
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
      // After a price notice this type has no subtype; the renewal information says which of the two it is.
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
      if !state.refunded.contains(id) { state.refunded.append(id) }
      // Apple disables renewal after a refund that was requested within the app.
      if step.renewal?.autoRenew == false { state.sawRenewalDisabled = true }
      if isFirst || state.transactionId == nil || id == state.transactionId {
        state.status = .revoked
        state.sawEnd = true
      }
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
    default: break
    }
  }

  /// Begins a paid period. Problems of the previous period no longer count.
  private static func begin(_ state: inout SubscriptionState) {
    // The period enables renewal, and Apple may announce that shortly after.
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
