/// The rules by which a step shows that notifications before it are missing.
extension SubscriptionFold {
  /// The greatest time between the end of a period and the start of the next one, milliseconds: an hour (our choice).
  private static let periodTolerance: Int64 = 3_600_000

  /// True for types that begin a paid period or move its end.
  private static func announcesPeriod(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", _), ("DID_RENEW", _), ("OFFER_REDEEMED", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("RENEWAL_EXTENDED", _),
      ("RENEWAL_EXTENSION", _), ("REFUND_REVERSED", _):
      true
    default: step.isObservation || step.isMigration
    }
  }

  /// The rules that the step breaks.
  static func brokenRules(
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
  static func unannouncedStatus(_ last: SubscriptionState, _ step: LifecycleStep) -> SubscriptionStatus? {
    // The refund of the newest known period, while another one is active.
    if showsUnknownPeriod(last, step) { return .active }
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

  /// The notification types that would have prevented this.
  static func missing(_ last: SubscriptionState?, _ step: LifecycleStep, _ broken: [SubscriptionGapRule]) -> String {
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
