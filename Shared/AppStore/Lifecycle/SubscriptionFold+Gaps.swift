/// The rules by which a step shows that notifications before it are missing (``SubscriptionGapRule``).
extension SubscriptionFold {
  /// The greatest time between the end of a period and the start of the next one that is not a gap, milliseconds: an hour (our choice).
  static let periodTolerance: Int64 = 3_600_000

  /// True if the step's type announces a paid period or another end of it.
  private static func announcesPeriod(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", _), ("DID_RENEW", _), ("OFFER_REDEEMED", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("RENEWAL_EXTENDED", _),
      ("RENEWAL_EXTENSION", _), ("REFUND_REVERSED", _):
      true
    default: step.isObservation || step.isMigration
    }
  }

  /// The rules that the step breaks after the last state.
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

  /// True if no step is needed before this one.
  static func startsHistory(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", nil), ("OFFER_REDEEMED", "INITIAL_BUY"): true
    default: step.isMigration
    }
  }

  /// True if a period between the known one and that of the step is missing, or the step's period was not announced.
  private static func breaksPeriods(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    guard let transaction = step.transaction, let end = last.expiresDate else { return false }
    if !announcesPeriod(step) {
      // The step shows a period that ends after the last announced one. If that one is not known, its gap is reported already.
      return last.transactionId != nil && isNewest(transaction, last) && (transaction.expiresDate ?? end) > end.plus(periodTolerance)
    }
    guard continuesPeriods(step), !last.sawFailure, !last.sawEnd, let start = transaction.purchaseDate else { return false }
    return start > end.plus(periodTolerance) || (keepsPeriod(step) && isLater(transaction, than: last))
  }

  /// True if the step's type is about the current period and begins no other.
  private static func keepsPeriod(_ step: LifecycleStep) -> Bool {
    step.type == "RENEWAL_EXTENDED" || (step.type == "OFFER_REDEEMED" && step.subtype == "DOWNGRADE")
  }

  /// True if the transaction was bought after the known one.
  private static func isLater(_ transaction: LifecycleStep.Transaction, than last: SubscriptionState) -> Bool {
    guard let known = last.transactionId, let date = transaction.purchaseDate, let knownDate = last.purchaseDate else { return false }
    return transaction.transactionId != known && date > knownDate
  }

  /// True if the step's period must be the known one or follow it directly, so that time between them shows a gap.
  private static func continuesPeriods(_ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("DID_RENEW", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("RENEWAL_EXTENDED", _), ("OFFER_REDEEMED", nil),
      ("OFFER_REDEEMED", "UPGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"):
      true
    default: false
    }
  }

  /// True if an earlier step that this one requires is missing.
  private static func lacksEntry(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    switch (step.type, step.subtype) {
    case ("DID_RENEW", "BILLING_RECOVERY"), ("EXPIRED", "BILLING_RETRY"): !last.sawFailure
    case ("GRACE_PERIOD_EXPIRED", _): !last.sawGracePeriod
    case ("EXPIRED", "VOLUNTARY"): !last.sawRenewalDisabled
    case ("EXPIRED", "PRICE_INCREASE"): !last.sawPriceIncrease
    case ("SUBSCRIBED", "RESUBSCRIBE"), ("OFFER_REDEEMED", "RESUBSCRIBE"): !last.sawEnd
    case ("REFUND_REVERSED", _): step.transaction.map { !isRefunded($0, last) } ?? false
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"):
      last.autoRenew == true && [.active, .gracePeriod, .billingRetry].contains(last.status) && !last.sawRenewalDisabled
        && !last.renewedWhileOff
    default: false
    }
  }

  /// True if the transaction, or the same purchase under another id, is refunded.
  private static func isRefunded(_ transaction: LifecycleStep.Transaction, _ last: SubscriptionState) -> Bool {
    last.refunded.contains { $0 == transaction.transactionId || ($0 == last.transactionId && isKnownPeriod(transaction, last)) }
  }

  /// True if the step shows a setting or a price that no earlier step announced.
  private static func changesFact(_ last: SubscriptionState, _ step: LifecycleStep) -> Bool {
    changesSetting(last, step) || raisesPrice(last, step)
  }

  /// True if the step's type changes neither the status nor the product nor the renewal setting, so that those it shows were set before it.
  private static func isAboutOtherThings(_ step: LifecycleStep) -> Bool {
    ["PRICE_INCREASE", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED"].contains(step.type)
  }

  /// True if the step is the notification of a change to the status.
  static func announces(_ step: LifecycleStep, _ status: SubscriptionStatus) -> Bool {
    switch status {
    case .gracePeriod: step.type == "DID_FAIL_TO_RENEW" && step.subtype == "GRACE_PERIOD"
    case .billingRetry: step.type == "GRACE_PERIOD_EXPIRED" || (step.type == "DID_FAIL_TO_RENEW" && step.subtype != "GRACE_PERIOD")
    case .expired: step.type == "EXPIRED"
    case .revoked: step.type == "REFUND" || step.type == "REVOKE"
    case .active, .activeNotRenewing, .unknownOverdue: beginsPeriod(step) || step.type == "REFUND_REVERSED"
    }
  }

  /// True if the price of this or the next period is higher than the last known one, and no increase was announced. Apple announces only
  /// increases. Prices are compared only for types of steps in which they cannot differ for another reason, such as a change of the plan
  /// (see also ``SubscriptionPrice/isRaised(to:)``).
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
    if let known = last.autoRenew, let shown = renewal.autoRenew, known != shown { return true }
    if let known = last.autoRenewProductId, let shown = renewal.autoRenewProductId, known != shown { return true }
    return false
  }

  /// The notification types that would close the gap, for people.
  static func missing(_ last: SubscriptionState?, _ step: LifecycleStep, _ broken: [SubscriptionGapRule]) -> String {
    guard let last, !broken.contains(.unexplainedStart) else {
      return step.transaction?.previousOriginalTransactionId == nil ? "SUBSCRIBED/INITIAL_BUY" : "MIGRATION"
    }
    if broken.contains(.entryRequired) { return missingEntry(step) }
    if broken.contains(.periodContinuity) { return "DID_RENEW" }
    return changesSetting(last, step) ? "DID_CHANGE_RENEWAL_STATUS or DID_CHANGE_RENEWAL_PREF" : "PRICE_INCREASE"
  }

  /// The notification types that announce a status, for people.
  ///
  /// - Parameter before: the status to which the steps lead.
  static func announcement(of status: SubscriptionStatus, after before: SubscriptionStatus) -> String {
    switch status {
    case .gracePeriod: "DID_FAIL_TO_RENEW/GRACE_PERIOD"
    case .billingRetry: "DID_FAIL_TO_RENEW or GRACE_PERIOD_EXPIRED"
    case .expired: "EXPIRED"
    case .revoked: "REFUND or REVOKE"
    case .active, .activeNotRenewing, .unknownOverdue:
      before == .revoked ? "REFUND_REVERSED or SUBSCRIBED" : "DID_RENEW or SUBSCRIBED"
    }
  }

  /// The notification type that the step requires before it, for people.
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
