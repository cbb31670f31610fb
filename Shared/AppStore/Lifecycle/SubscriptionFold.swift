/// The state machine of a subscription: computes the next state from the last one and a step (notificationType; subtype; Handling
/// subscriptions billing; Reducing involuntary subscriber churn). ``SubscriptionHistory`` applies it to all steps in order.
///
/// `SubscriptionFold+Transitions.swift` has the state after each notification type. `SubscriptionFold+Gaps.swift` has the rules that show
/// missing notifications.
enum SubscriptionFold {
  /// The result of applying a step to a state.
  struct Outcome {
    let state: SubscriptionState
    /// The rules that the step breaks.
    let broken: [SubscriptionGapRule]
    /// The notification types that are missing, for people; empty if no rule is broken.
    let missing: String
    /// Apple's status in the step, if the step is about something else and no earlier step announced that status.
    let unannounced: SubscriptionStatus?
  }

  /// Applies a step to the last state.
  ///
  /// - Parameter beginsHistory: true for the first step under an original transaction id. Then `last` is the state under the previous id,
  ///   or nil.
  static func next(_ last: SubscriptionState?, _ step: LifecycleStep, beginsHistory: Bool) -> Outcome {
    let step = withNewestFacts(step, last)
    let broken = brokenRules(last, step, beginsHistory: beginsHistory)
    let missing = broken.isEmpty ? "" : missing(last, step, broken)
    let unannounced = beginsHistory ? nil : last.flatMap { unannouncedStatus($0, step) }
    var state = last ?? SubscriptionState(first: step)
    let before = state.status
    change(&state, by: step)
    copyFacts(of: step, into: &state, endsByRevocation: !continuesAfterRefund(step, last))
    // Apple's status at the time of signing takes precedence, except over a revocation.
    if state.status == .revoked, state.revocationDate != nil {
      // The subscription stays revoked.
    } else if let number = step.appleStatus, let appleStatus = SubscriptionStatus(appleStatus: number, autoRenew: state.autoRenew) {
      state.status = appleStatus
    } else if state.autoRenew == false, state.status == .active {
      state.status = .activeNotRenewing
    }
    if state.status != before { state.since = step.signedDate }
    // After a reversed refund the subscription continues as if it had never been refunded. Its status shows whether it has ended since.
    if step.type == "REFUND_REVERSED", before == .revoked, state.status != .revoked { state.sawEnd = state.status == .expired }
    // The missing notification of a status is reported once, so the following steps must not require it again.
    if unannounced != nil { markStatusAsAnnounced(&state) }
    // After a status from Apple, earlier notifications do not count as missing. Nor do those before a migration if the history under the
    // previous id is unknown.
    if step.isObservation || (step.isMigration && last == nil) { markAsComplete(&state) }
    state.lastSignedDate = step.signedDate
    return Outcome(state: state, broken: broken, missing: missing, unannounced: unannounced)
  }

  /// Copies the facts of the step's transaction and renewal information into the state.
  ///
  /// - Parameter endsByRevocation: false if the subscription goes on although the step's transaction is refunded.
  private static func copyFacts(of step: LifecycleStep, into state: inout SubscriptionState, endsByRevocation: Bool) {
    // A step that begins a period is about the newest period, even if that one ends sooner, as after an upgrade from a year to a month.
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
        // The announced price increase has been charged.
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

  /// True if the transaction is of the newest period. A refund, or a response of the App Store Server API, may be about an earlier one.
  static func isNewest(_ transaction: LifecycleStep.Transaction, _ state: SubscriptionState) -> Bool {
    if let known = state.transactionId {
      if known == transaction.transactionId { return true }
    } else if state.status != .revoked, state.refunded.contains(transaction.transactionId) {
      // The transaction was refunded, but the refund did not end the subscription, so it is of an earlier period.
      return false
    }
    if let date = transaction.purchaseDate, let known = state.purchaseDate { return date >= known }
    guard let date = transaction.expiresDate, let known = state.expiresDate else { return true }
    return date >= known
  }

  /// Returns the step with the known facts of its transaction, if Apple signed those later than the facts in the step. The step's type and
  /// Apple's status count nevertheless, because they belong to the notification.
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

  /// Marks everything before the state as known, so that no earlier notification counts as missing.
  private static func markAsComplete(_ state: inout SubscriptionState) {
    state.sawFailure = false
    state.sawGracePeriod = false
    state.sawEnd = false
    markStatusAsAnnounced(&state)
    state.sawRenewalDisabled = state.autoRenew == false
    if state.status == .revoked, let id = state.transactionId, !state.refunded.contains(id) { state.refunded.append(id) }
  }

  /// Marks the notifications that lead to the status as seen.
  private static func markStatusAsAnnounced(_ state: inout SubscriptionState) {
    if state.status == .billingRetry || state.status == .gracePeriod { state.sawFailure = true }
    if state.status == .gracePeriod { state.sawGracePeriod = true }
    if state.status == .expired || state.status == .revoked { state.sawEnd = true }
  }
}
