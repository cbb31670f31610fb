/// The state machine of a subscription: computes the next state from a notification, and finds missing notifications (notificationType;
/// subtype; Handling subscriptions billing; Reducing involuntary subscriber churn).
enum SubscriptionFold {
  /// The greatest time between the end of a period and the start of the next one, milliseconds: an hour (our choice).
  static let periodTolerance: Int64 = 3_600_000

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
  private static func beginsPeriod(_ step: LifecycleStep) -> Bool {
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
  private static func isNewest(_ transaction: LifecycleStep.Transaction, _ state: SubscriptionState) -> Bool {
    guard let known = state.transactionId, known != transaction.transactionId else { return true }
    if let mine = transaction.purchaseDate, let its = state.purchaseDate { return mine >= its }
    guard let mine = transaction.expiresDate, let its = state.expiresDate else { return true }
    return mine >= its
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

  // MARK: What is missing

  /// True for types that begin a paid period or move its end.
  private static func announcesPeriod(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", _), ("DID_RENEW", _), ("OFFER_REDEEMED", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("RENEWAL_EXTENDED", _),
      ("RENEWAL_EXTENSION", _), ("REFUND_REVERSED", _):
      true
    default: step.isObservation || step.isMigration
    }
  }

  private static func brokenRules(
    _ last: SubscriptionState?, _ step: LifecycleStep, beginsHistory: Bool
  ) -> [SubscriptionGapRule] {
    guard !step.isObservation else { return [] }
    guard let last, !beginsHistory else { return startsHistory(step) ? [] : [.unexplainedStart] }
    var broken: [SubscriptionGapRule] = []
    if breaksPeriods(last, step) { broken.append(.periodContinuity) }
    if lacksEntry(last, step) { broken.append(.entryRequired) }
    if changesFact(last, step) { broken.append(.changedFact) }
    return broken
  }

  private static func startsHistory(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", nil), ("OFFER_REDEEMED", "INITIAL_BUY"): true
    default: step.isMigration
    }
  }

  private static func breaksPeriods(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    guard let transaction = step.transaction, let end = last.expiresDate else { return false }
    if !announcesPeriod(step) {
      // A period after the last announced one.
      return isNewest(transaction, last) && (transaction.expiresDate ?? end) > end.plus(periodTolerance)
    }
    guard continuesPeriods(step), !last.sawFailure, !last.sawEnd, let start = transaction.purchaseDate else { return false }
    return start > end.plus(periodTolerance) || (keepsPeriod(step) && isLater(transaction, than: last))
  }

  /// True if the step is about the current period and begins none.
  private static func keepsPeriod(_ step: LifecycleStep) -> Bool {
    step.type == "RENEWAL_EXTENDED" || (step.type == "OFFER_REDEEMED" && step.subtype == "DOWNGRADE")
  }

  /// True if the transaction was bought after the known one.
  private static func isLater(_ transaction: LifecycleStep.Transaction, than last: SubscriptionState) -> Bool {
    guard let known = last.transactionId, let mine = transaction.purchaseDate, let its = last.purchaseDate else { return false }
    return transaction.transactionId != known && mine > its
  }

  /// True if the step's period is the known one or follows it directly, so that nothing can be missing between them.
  private static func continuesPeriods(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("DID_RENEW", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("RENEWAL_EXTENDED", _), ("OFFER_REDEEMED", nil),
      ("OFFER_REDEEMED", "UPGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"):
      true
    default: false
    }
  }

  private static func lacksEntry(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("DID_RENEW", "BILLING_RECOVERY"), ("EXPIRED", "BILLING_RETRY"): !last.sawFailure
    case ("GRACE_PERIOD_EXPIRED", _): !last.sawGracePeriod
    case ("EXPIRED", "VOLUNTARY"): !last.sawRenewalDisabled
    case ("EXPIRED", "PRICE_INCREASE"): !last.sawPriceIncrease
    case ("SUBSCRIBED", "RESUBSCRIBE"), ("OFFER_REDEEMED", "RESUBSCRIBE"): !last.sawEnd
    case ("REFUND_REVERSED", _): step.transaction.map { !last.refunded.contains($0.transactionId) } ?? false
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"):
      last.autoRenew == true && [.active, .gracePeriod, .billingRetry].contains(last.status) && !last.sawRenewalDisabled
        && !last.renewedWhileOff
    default: false
    }
  }

  /// True if the step shows a setting or a price that was not announced.
  private static func changesFact(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    changesSetting(last, step) || raisesPrice(last, step)
  }

  /// True if the step is not about the status, the product or the renewal setting, so that these were set before it.
  private static func isAboutOtherThings(_ step: LifecycleStep) -> Bool {
    ["PRICE_INCREASE", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED"].contains(step.type)
  }

  /// Apple's status in a step about something else, if it differs from the computed one. A revoked subscription is skipped, because its
  /// other transactions may have another status. Nor is a status suspected just after the end, because the status changes with the end and
  /// its announcement is signed a little later.
  private static func unannouncedStatus(_ last: SubscriptionState, _ step: LifecycleStep) -> SubscriptionStatus? {
    guard isAboutOtherThings(step), last.status != .revoked, let number = step.appleStatus,
      let said = SubscriptionStatus(appleStatus: number, autoRenew: nil),
      said != (last.status == .activeNotRenewing ? .active : last.status)
    else { return nil }
    if [.gracePeriod, .billingRetry, .expired].contains(said), let end = last.awaitedEnd,
      (end.plus(-periodTolerance)...end.plus(SubscriptionGapRule.silenceAfter)).contains(step.signedDate)
    {
      return nil
    }
    return said
  }

  /// True if the step announces the status.
  static func announces(_ step: LifecycleStep, _ status: SubscriptionStatus) -> Bool {
    switch status {
    case .gracePeriod: step.type == "DID_FAIL_TO_RENEW" && step.subtype == "GRACE_PERIOD"
    case .billingRetry: step.type == "GRACE_PERIOD_EXPIRED" || (step.type == "DID_FAIL_TO_RENEW" && step.subtype != "GRACE_PERIOD")
    case .expired: step.type == "EXPIRED"
    case .revoked: step.type == "REFUND" || step.type == "REVOKE"
    case .active, .activeNotRenewing, .unknownOverdue: beginsPeriod(step)
    }
  }

  /// True if the price of this or the next period is higher than the last announced one. Apple announces increases only. Prices are not
  /// compared if they may differ for another reason: a plan, an offer, a changed renewal setting, a long failure.
  private static func raisesPrice(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    guard let known = last.renewalPrice, !last.sawPriceNotice else { return false }
    let shown: [SubscriptionPrice?] =
      switch (step.type, step.subtype) {
      case ("DID_RENEW", nil): [step.transaction?.price, step.renewal?.price]
      case ("REFUND_DECLINED", _), ("CONSUMPTION_REQUEST", _), ("RENEWAL_EXTENDED", _), ("DID_FAIL_TO_RENEW", _): [step.renewal?.price]
      default: []
      }
    return shown.contains { $0.map(known.isRaised) ?? false }
  }

  /// True if a step about something else shows another product or renewal setting.
  private static func changesSetting(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    guard isAboutOtherThings(step), let renewal = step.renewal else { return false }
    if let known = last.autoRenew, let said = renewal.autoRenew, known != said { return true }
    if let known = last.autoRenewProductId, let said = renewal.autoRenewProductId, known != said { return true }
    return false
  }

  private static func missing(_ last: SubscriptionState?, _ step: LifecycleStep, _ broken: [SubscriptionGapRule]) -> String {
    guard let last, !broken.contains(.unexplainedStart) else {
      return step.transaction?.previousOriginalTransactionId == nil ? "SUBSCRIBED/INITIAL_BUY" : "MIGRATION"
    }
    if broken.contains(.entryRequired) { return missingEntry(step) }
    if broken.contains(.periodContinuity) { return "DID_RENEW" }
    return changesSetting(last, step) ? "DID_CHANGE_RENEWAL_STATUS or DID_CHANGE_RENEWAL_PREF" : "PRICE_INCREASE"
  }

  /// The notification types that announce a status.
  static func announcement(of status: SubscriptionStatus) -> String {
    switch status {
    case .gracePeriod: "DID_FAIL_TO_RENEW/GRACE_PERIOD"
    case .billingRetry: "DID_FAIL_TO_RENEW or GRACE_PERIOD_EXPIRED"
    case .expired: "EXPIRED"
    case .revoked: "REFUND or REVOKE"
    case .active, .activeNotRenewing, .unknownOverdue: "DID_RENEW or SUBSCRIBED"
    }
  }

  private static func missingEntry(_ step: LifecycleStep) -> String {
    switch (step.type, step.subtype) {
    case ("GRACE_PERIOD_EXPIRED", _): "DID_FAIL_TO_RENEW/GRACE_PERIOD"
    case ("EXPIRED", "VOLUNTARY"), ("DID_CHANGE_RENEWAL_STATUS", _): "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    case ("EXPIRED", "PRICE_INCREASE"): "PRICE_INCREASE/PENDING"
    case ("SUBSCRIBED", _), ("OFFER_REDEEMED", _): "EXPIRED or REVOKE"
    case ("REFUND_REVERSED", _): "REFUND"
    default: "DID_FAIL_TO_RENEW"
    }
  }
}
