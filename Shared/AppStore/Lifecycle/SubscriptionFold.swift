/// The state machine of a subscription: computes the next state from a notification (notificationType; subtype; Handling subscriptions
/// billing; Reducing involuntary subscriber churn). SubscriptionFold+Transitions has the state after each notification type,
/// SubscriptionFold+Gaps finds missing notifications.
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
    change(&state, by: step)
    take(step, into: &state, endsByRevocation: !continuesAfterRefund(step, last))
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

  /// Takes over the step's transaction and renewal information. `endsByRevocation`: false if the subscription goes on although its
  /// transaction is refunded.
  private static func take(_ step: LifecycleStep, into state: inout SubscriptionState, endsByRevocation: Bool) {
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
      if transaction.revocationDate != nil, step.type != "REFUND_REVERSED", endsByRevocation { state.status = .revoked }
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
    if let known = state.transactionId {
      if known == transaction.transactionId { return true }
    } else if state.status != .revoked, state.refunded.contains(transaction.transactionId) {
      // Its refund did not end the subscription.
      return false
    }
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
