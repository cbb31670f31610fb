/// The state after each notification type (notificationType). Which state each type follows is in `SubscriptionFold+Gaps.swift`: another
/// state before it means that a notification is missing. If a notification has Apple's own status, that status decides afterwards
/// (`SubscriptionFold+AppleStatus.swift`).
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
    case ("REFUND", "SEATS") where step.transaction?.revocationDate == nil:
      // Some of the transaction's seats are refunded, and it is valid for the others.
      break
    case ("REFUND", _):
      guard let transaction = step.transaction else { break }
      revoke(transaction, &state)
      // Apple turns renewal off after a refund that was requested within the app.
      if step.renewal?.autoRenew == false { state.sawRenewalDisabled = true }
    case ("REFUND_REVERSED", _):
      guard let transaction = step.transaction else { break }
      let isKnown = isKnownPeriod(transaction, state)
      state.refunded.removeAll { $0 == transaction.transactionId || (isKnown && $0 == state.transactionId) }
      guard state.status == .revoked, state.transactionId == nil || isKnown else { break }
      // The subscription continues as if it had never been refunded.
      let end = transaction.expiresDate ?? state.expiresDate
      state.status = end.map { $0 > step.signedDate } ?? true ? .active : .expired
      state.revocationDate = nil
    case ("REVOKE", _):
      if let transaction = step.transaction {
        revoke(transaction, &state)
      } else {
        end(&state)
      }
    // Other types, such as MIGRATION and METADATA_UPDATE, change no status. RENEWAL_EXTENDED has the new end in its transaction, whose
    // facts are copied afterwards.
    default: break
    }
  }

  /// Revokes a transaction. That ends the subscription if the transaction is the known one of the newest period, or none is known.
  private static func revoke(_ transaction: LifecycleStep.Transaction, _ state: inout SubscriptionState) {
    let id = transaction.transactionId
    if state.transactionId == nil ? !state.refunded.contains(id) : isKnownPeriod(transaction, state) { end(&state) }
    if !state.refunded.contains(id) { state.refunded.append(id) }
  }

  private static func end(_ state: inout SubscriptionState) {
    state.status = .revoked
    state.sawEnd = true
  }

  /// Begins a paid period. Failures and other steps of the previous period no longer count.
  static func begin(_ state: inout SubscriptionState) {
    // A new period turns renewal on, and Apple may announce that shortly after.
    state.renewedWhileOff = state.autoRenew == false
    state.status = .active
    state.autoRenew = true
    state.revocationDate = nil
    state.gracePeriodExpiresDate = nil
    state.endIsAssumed = false
    state.sawFailure = false
    state.sawGracePeriod = false
    state.sawRenewalDisabled = false
    state.sawPriceIncrease = false
    state.sawEnd = false
  }
}
