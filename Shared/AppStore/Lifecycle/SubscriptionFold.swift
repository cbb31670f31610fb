/// The state machine of a subscription: computes the next state from the last one and a step (notificationType; subtype; Handling
/// subscriptions billing; Reducing involuntary subscriber churn). ``SubscriptionHistory`` applies it to all steps in order.
///
/// `SubscriptionFold+Transitions.swift` has the state after each notification type, `SubscriptionFold+AppleStatus.swift` how Apple's status
/// outranks it, and `SubscriptionFold+Gaps.swift` the rules that show missing notifications.
enum SubscriptionFold {
  /// The result of applying a step to a state.
  struct Outcome {
    let state: SubscriptionState
    /// The rules that the step breaks.
    let broken: [SubscriptionGapRule]
    /// The notification types that are missing, for people; empty if no rule is broken.
    let missing: String
    /// Apple's status in the step, if the steps lead to another one; otherwise nil.
    let unannounced: Unannounced?
  }

  /// A status of Apple's to which the steps do not lead.
  struct Unannounced {
    let status: SubscriptionStatus
    /// The notification types that announce it, for people.
    let missing: String
  }

  /// Applies a step to the last state.
  ///
  /// - Parameter beginsHistory: true for the first step under an original transaction id. Then `last` is the state under the previous id,
  ///   or nil.
  static func next(_ last: SubscriptionState?, _ step: LifecycleStep, beginsHistory: Bool) -> Outcome {
    let step = withNewestFacts(step, last)
    let broken = brokenRules(last, step, beginsHistory: beginsHistory)
    let missing = broken.isEmpty ? "" : missing(last, step, broken)
    var state = last ?? SubscriptionState(first: step)
    let before = state.status
    change(&state, by: step)
    copyFacts(of: step, into: &state, endsByRevocation: state.status == .revoked || !isOverruled(step, last))
    if state.autoRenew == false, state.status == .active { state.status = .activeNotRenewing }
    let unannounced = followAppleStatus(&state, step, after: last, beginsHistory: beginsHistory)
    if state.status != before { state.since = step.signedDate }
    // After a reversed refund the subscription continues as if it had never been refunded. Its status shows whether it has ended since.
    if step.type == "REFUND_REVERSED", before == .revoked, state.status != .revoked { state.sawEnd = state.status == .expired }
    // After a status from Apple, earlier notifications do not count as missing. Nor do those before a migration if the history under the
    // previous id is unknown.
    if step.isObservation || (step.isMigration && last == nil) { markAsComplete(&state) }
    state.lastSignedDate = step.signedDate
    return Outcome(state: state, broken: broken, missing: missing, unannounced: unannounced)
  }

  /// Copies the facts of the step's transaction and renewal information into the state.
  ///
  /// - Parameter endsByRevocation: false if the subscription goes on although the step's transaction is revoked.
  private static func copyFacts(of step: LifecycleStep, into state: inout SubscriptionState, endsByRevocation: Bool) {
    // A step that begins a period is about the newest period, even if that one ends sooner, as after an upgrade from a year to a month. So
    // is Apple's answer about the status.
    if let transaction = step.transaction,
      beginsPeriod(step) || step.isMigration || step.type == LifecycleStep.observation || isNewest(transaction, state)
    {
      state.transactionId = transaction.transactionId
      state.productId = transaction.productId ?? state.productId
      state.purchaseDate = transaction.purchaseDate ?? state.purchaseDate
      if let end = transaction.expiresDate {
        state.expiresDate = end
        state.endIsAssumed = false
      }
      state.subscriptionGroupId = transaction.subscriptionGroupId ?? state.subscriptionGroupId
      state.storefront = transaction.storefront ?? state.storefront
      state.originalPurchaseDate = transaction.originalPurchaseDate ?? state.originalPurchaseDate
      state.factsSignedDate = transaction.signedDate
      if let price = transaction.price {
        // The announced price increase has been charged.
        if state.price?.isRaised(to: price) ?? false { state.sawPriceNotice = false }
        state.price = price
      }
      if step.type != "REFUND_REVERSED" { state.revocationDate = endsByRevocation ? transaction.revocationDate : nil }
      // A transaction with a revocation date is revoked, whatever the notification is about.
      if transaction.revocationDate != nil, step.type != "REFUND_REVERSED", endsByRevocation { state.status = .revoked }
    }
    copyRenewal(of: step, into: &state)
  }

  /// Copies the facts of the step's renewal information into the state.
  static func copyRenewal(of step: LifecycleStep, into state: inout SubscriptionState) {
    guard let renewal = step.renewal else { return }
    state.autoRenew = renewal.autoRenew ?? state.autoRenew
    state.autoRenewProductId = renewal.autoRenewProductId ?? state.autoRenewProductId
    state.gracePeriodExpiresDate = renewal.gracePeriodExpiresDate ?? state.gracePeriodExpiresDate
    if renewal.priceIncreasePending == true { state.sawPriceIncrease = true }
    if renewal.price != nil || (renewal.autoRenewProductId ?? state.renewalPrice?.productId) != state.renewalPrice?.productId {
      state.renewalPrice = renewal.price
    }
    if state.autoRenew == true, state.status == .activeNotRenewing { state.status = .active }
  }

  /// True if the transaction is of the newest period. A refund, or a response of the App Store Server API, may be about an earlier one.
  static func isNewest(_ transaction: LifecycleStep.Transaction, _ state: SubscriptionState) -> Bool {
    if let known = state.transactionId {
      if known == transaction.transactionId { return true }
      // Several transactions may represent the period. The one that is known stands for all of them.
      if transaction.additionalTransactionReason != nil, transaction.expiresDate == state.expiresDate { return false }
    } else if state.status != .revoked, state.refunded.contains(transaction.transactionId) {
      // The transaction was refunded, but the refund did not end the subscription, so it is of an earlier period.
      return false
    }
    if let date = transaction.purchaseDate, let known = state.purchaseDate { return date >= known }
    guard let date = transaction.expiresDate, let known = state.expiresDate else { return true }
    // If nothing but the end of the period is known or assumed, a transaction that has not ended is that of the period.
    return date >= known || (state.transactionId == nil && date > state.lastSignedDate)
  }

  /// True if the transaction is the known one of the newest period, or the same purchase under another id: Apple sometimes names an id that
  /// is next to the one of the purchase.
  static func isKnownPeriod(_ transaction: LifecycleStep.Transaction, _ state: SubscriptionState) -> Bool {
    guard let known = state.transactionId else { return false }
    if known == transaction.transactionId { return true }
    guard transaction.additionalTransactionReason == nil, let date = transaction.purchaseDate else { return false }
    return date == state.purchaseDate && transaction.expiresDate == state.expiresDate
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
  static func markStatusAsAnnounced(_ state: inout SubscriptionState) {
    if state.status == .billingRetry || state.status == .gracePeriod { state.sawFailure = true }
    if state.status == .gracePeriod { state.sawGracePeriod = true }
    if state.status == .expired || state.status == .revoked { state.sawEnd = true }
  }
}
