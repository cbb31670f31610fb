/// The state machine of a subscription: computes the next state from a notification (notificationType; subtype; Handling subscriptions
/// billing; Reducing involuntary subscriber churn). SubscriptionFold+Gaps finds missing notifications.
enum SubscriptionFold {
  /// The result of applying a step to a state.
  struct Outcome {
    let state: SubscriptionState
    /// The rules that the step breaks.
    let broken: [SubscriptionGapRule]
    /// The notification types that would have prevented this.
    let missing: String
    /// A status that the step shows, although it is about something else and no earlier step announced the status.
    let unannounced: SubscriptionStatus?
  }

  /// - Parameter beginsHistory: true for the first step of an id. Then `last` is the state under an earlier id, or nil.
  static func next(_ last: SubscriptionState?, _ step: LifecycleStep, beginsHistory: Bool) -> Outcome {
    let step = withNewestFacts(step, last)
    let broken = brokenRules(last, step, beginsHistory: beginsHistory)
    let missing = broken.isEmpty ? "" : missing(last, step, broken)
    let unannounced = beginsHistory ? nil : last.flatMap { unannouncedStatus($0, step) }
    var state = last ?? SubscriptionState(first: step)
    let before = state.status
    change(&state, by: step, isFirst: last == nil)
    take(step, into: &state)
    // Apple's status at the time of signing takes precedence, except over a revocation.
    if state.status == .revoked, state.revocationDate != nil {
      // The status does not change.
    } else if let number = step.appleStatus, let said = SubscriptionStatus(appleStatus: number, autoRenew: state.autoRenew) {
      state.status = said
    } else if state.autoRenew == false, state.status == .active {
      state.status = .activeNotRenewing
    }
    if state.status != before { state.since = step.signedDate }
    // The subscription continues as if it had never been refunded; Apple's status shows whether it has ended.
    if step.type == "REFUND_REVERSED", before == .revoked, state.status != .revoked { state.sawEnd = state.status == .expired }
    // A missing notification is reported once, so the following steps must not require it again.
    if unannounced != nil { trustStatus(&state) }
    // Nothing may be known of the time before a migration, so everything that the step shows is accepted.
    if step.isObservation || (step.isMigration && last == nil) { trust(&state) }
    state.lastSignedDate = step.signedDate
    return Outcome(state: state, broken: broken, missing: missing, unannounced: unannounced)
  }

  // MARK: Transitions

  /// True if a paid period begins with the step.
  static func beginsPeriod(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", _), ("DID_RENEW", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("OFFER_REDEEMED", nil),
      ("OFFER_REDEEMED", "INITIAL_BUY"), ("OFFER_REDEEMED", "RESUBSCRIBE"), ("OFFER_REDEEMED", "UPGRADE"):
      true
    default: false
    }
  }

  private static func change(_ state: inout SubscriptionState, by step: LifecycleStep, isFirst: Bool) {
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

  /// Takes over the step's transaction and renewal information.
  private static func take(_ step: LifecycleStep, into state: inout SubscriptionState) {
    // A step that begins a period is about the newest one, even if that ends sooner, as in an upgrade from a year to a month.
    if let transaction = step.transaction, beginsPeriod(step) || step.isMigration || isNewest(transaction, state) {
      state.transactionId = transaction.transactionId
      state.productId = transaction.productId ?? state.productId
      state.purchaseDate = transaction.purchaseDate ?? state.purchaseDate
      state.expiresDate = transaction.expiresDate ?? state.expiresDate
      state.subscriptionGroupId = transaction.subscriptionGroupId ?? state.subscriptionGroupId
      state.storefront = transaction.storefront ?? state.storefront
      state.originalPurchaseDate = transaction.originalPurchaseDate ?? state.originalPurchaseDate
      state.factsSignedDate = transaction.signedDate
      if let price = transaction.price {
        // The announced price increase has happened.
        if state.price?.isRaised(to: price) ?? false { state.sawPriceNotice = false }
        state.price = price
      }
      if step.type != "REFUND_REVERSED" { state.revocationDate = transaction.revocationDate }
      // A transaction with a revocation date is revoked, whatever the notification is about.
      if transaction.revocationDate != nil, step.type != "REFUND_REVERSED" { state.status = .revoked }
    }
    if let renewal = step.renewal {
      state.autoRenew = renewal.autoRenew ?? state.autoRenew
      state.autoRenewProductId = renewal.autoRenewProductId ?? state.autoRenewProductId
      state.gracePeriodExpiresDate = renewal.gracePeriodExpiresDate ?? state.gracePeriodExpiresDate
      if renewal.priceIncreasePending == true { state.sawPriceIncrease = true }
      if renewal.price != nil || (renewal.autoRenewProductId ?? state.renewalPrice?.productId) != state.renewalPrice?.productId {
        state.renewalPrice = renewal.price
      }
      if state.autoRenew == true, state.status == .activeNotRenewing { state.status = .active }
    }
  }

  /// True if the transaction is of the newest period. A refund or an answer of Apple's may be about an old one.
  static func isNewest(_ transaction: LifecycleStep.Transaction, _ state: SubscriptionState) -> Bool {
    guard let known = state.transactionId, known != transaction.transactionId else { return true }
    if let mine = transaction.purchaseDate, let its = state.purchaseDate { return mine >= its }
    guard let mine = transaction.expiresDate, let its = state.expiresDate else { return true }
    return mine >= its
  }

  /// If Apple signed the known facts of the step's transaction later than those in the step, returns the step with the known ones. Its type
  /// and Apple's status count nevertheless, because they belong to the notification.
  private static func withNewestFacts(_ step: LifecycleStep, _ last: SubscriptionState?) -> LifecycleStep {
    guard let last, var facts = step.transaction, facts.transactionId == last.transactionId, let date = facts.signedDate,
      let known = last.factsSignedDate, date < known
    else { return step }
    facts.productId = last.productId
    facts.purchaseDate = last.purchaseDate
    facts.expiresDate = last.expiresDate
    facts.revocationDate = last.revocationDate
    facts.price = last.price
    facts.subscriptionGroupId = last.subscriptionGroupId
    facts.storefront = last.storefront
    facts.originalPurchaseDate = last.originalPurchaseDate
    facts.signedDate = known
    return step.with(facts)
  }

  /// After a status from Apple, no earlier notification counts as missing.
  private static func trust(_ state: inout SubscriptionState) {
    state.sawFailure = false
    state.sawGracePeriod = false
    state.sawEnd = false
    trustStatus(&state)
    state.sawRenewalDisabled = state.autoRenew == false
    if state.status == .revoked, let id = state.transactionId, !state.refunded.contains(id) { state.refunded.append(id) }
  }

  /// Marks the notifications that must have preceded the status as seen.
  private static func trustStatus(_ state: inout SubscriptionState) {
    if state.status == .billingRetry || state.status == .gracePeriod { state.sawFailure = true }
    if state.status == .gracePeriod { state.sawGracePeriod = true }
    if state.status == .expired || state.status == .revoked { state.sawEnd = true }
  }
}
