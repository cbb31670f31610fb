/// Apple's status in a step outranks the state to which the steps lead, because it is current as of the step's `signedDate` (status). A
/// difference means that a notification is missing.
extension SubscriptionFold {
  /// Sets the status that Apple names in the step, after the step's type and facts were applied. A number that is not known changes nothing.
  /// Returns Apple's status if the steps lead to another one and that must be reported; otherwise nil.
  static func followAppleStatus(
    _ state: inout SubscriptionState, _ step: LifecycleStep, after last: SubscriptionState?, beginsHistory: Bool
  ) -> Unannounced? {
    guard let number = step.appleStatus, let apple = SubscriptionStatus(appleStatus: number, autoRenew: nil) else { return nil }
    // Both are ends without access, and the revocation is the reason of this one.
    if apple == .expired, state.status == .revoked { return nil }
    var goesOnElsewhere = false
    if state.status == .revoked, apple != .revoked { goesOnElsewhere = overruleRevocation(&state, step, after: last) }
    let showsPeriod = apple == .active && (goesOnElsewhere || showsLaterPeriod(state, step))
    let expected: SubscriptionStatus = state.status == .activeNotRenewing ? .active : state.status
    let isNearEnd = endsAbout(step.signedDate, state, apple)
    if showsPeriod { beginUnknownPeriod(&state, step) }
    // Apple extends a grace period whose known end has passed.
    if apple == .gracePeriod, let end = state.gracePeriodExpiresDate, end <= step.signedDate { state.gracePeriodExpiresDate = nil }
    state.status = SubscriptionStatus(appleStatus: number, autoRenew: state.autoRenew) ?? apple
    // An unknown period is reported once, also if several steps show it.
    guard apple != expected || (showsPeriod && last?.transactionId != nil) else { return nil }
    // The notification of the change is signed a little later than the change. If it does not come, there is silence.
    if isNearEnd { return nil }
    // The missing notification is reported once, so the following steps must not require it again.
    markStatusAsAnnounced(&state)
    return isExplained(apple, step, showsPeriod, after: last, beginsHistory: beginsHistory)
      ? nil : Unannounced(status: apple, missing: announcement(of: apple, after: expected))
  }

  /// True if the step's transaction is revoked, and Apple's status has said since that the subscription goes on in spite of that.
  static func isOverruled(_ step: LifecycleStep, _ last: SubscriptionState?) -> Bool {
    guard let last, last.status != .revoked, let id = step.transaction?.transactionId,
      step.appleStatus.flatMap({ SubscriptionStatus(appleStatus: $0, autoRenew: nil) }) != .revoked
    else { return false }
    return last.refunded.contains(id)
  }

  /// True if the difference needs no missing notification.
  private static func isExplained(
    _ apple: SubscriptionStatus, _ step: LifecycleStep, _ showsPeriod: Bool, after last: SubscriptionState?, beginsHistory: Bool
  ) -> Bool {
    // The start of the history is a gap already, or unknown.
    if beginsHistory, !startsHistory(step) || (step.isMigration && last == nil) { return true }
    switch step.type {
    // Apple was asked.
    case LifecycleStep.observation, LifecycleStep.transactionObservation: return true
    // The subscription continues as if it had never been refunded, and only Apple knows what has happened to it meanwhile.
    case "REFUND_REVERSED": return last?.status == .revoked && apple != .revoked && !showsPeriod
    // Only Apple knows which of the transactions of a period remain, or which period is refunded if the newest one is unknown.
    case "REFUND", "REVOKE":
      return apple == .revoked && (step.transaction?.additionalTransactionReason != nil || last?.transactionId == nil)
    default: return false
    }
  }

  /// True if the known period is over, and no newer one is known, although Apple's status is that of a paid period.
  private static func showsLaterPeriod(_ state: SubscriptionState, _ step: LifecycleStep) -> Bool {
    guard !step.isObservation, !beginsPeriod(step), let end = state.expiresDate, step.signedDate > end.plus(periodTolerance) else {
      return false
    }
    // The end of the newest period, also if the step's transaction is of another one. Apple has not renewed the known period yet.
    return step.renewal?.renewalDate.map { $0 > end } ?? true
  }

  /// Lets a subscription go on that the steps lead to revoked. The revocation is remembered, so that a later step with the same facts does
  /// not revoke it again. Returns true if the subscription goes on with a period that is not known.
  private static func overruleRevocation(_ state: inout SubscriptionState, _ step: LifecycleStep, after last: SubscriptionState?) -> Bool {
    let facts = step.transaction
    // A step that only mentions a revoked transaction, or revokes it, is about another transaction than that by which the subscription goes on.
    let isOther = last?.status != .revoked && !step.isObservation && !step.isMigration && !beginsPeriod(step)
    if isOther {
      let (refunded, sawRenewalDisabled) = (state.refunded, state.sawRenewalDisabled)
      state = last ?? SubscriptionState(first: step)
      state.refunded = refunded
      state.sawRenewalDisabled = sawRenewalDisabled
      copyRenewal(of: step, into: &state)
      if state.transactionId == nil, let end = step.renewal?.renewalDate {
        state.expiresDate = end
        state.endIsAssumed = false
      }
    } else {
      state.revocationDate = nil
      state.sawEnd = false
    }
    if step.type != "REFUND_REVERSED", let id = isOther ? facts?.transactionId : state.transactionId, !state.refunded.contains(id) {
      state.refunded.append(id)
    }
    // Another transaction of the same period remains, or the end of the unknown period is known.
    if !isOther || facts?.additionalTransactionReason != nil { return false }
    return state.transactionId != nil || (state.expiresDate ?? .min) <= step.signedDate
  }

  /// Begins a period of which at most the end is known. If its end is unknown too, the latest time at which the subscription is known to be
  /// paid counts as the end, so that the check for silence asks Apple for the status.
  private static func beginUnknownPeriod(_ state: inout SubscriptionState, _ step: LifecycleStep) {
    begin(&state)
    copyRenewal(of: step, into: &state)
    // The period has no other announcement of this setting.
    state.sawRenewalDisabled = state.autoRenew == false
    state.transactionId = nil
    state.purchaseDate = nil
    state.factsSignedDate = nil
    let named = step.renewal?.renewalDate.flatMap { $0 > step.signedDate ? $0 : nil }
    state.expiresDate = named ?? max(step.transaction?.expiresDate ?? step.signedDate, step.signedDate)
    state.endIsAssumed = named == nil
  }

  /// True if the status is one that a subscription gets at the end of a period, and the time is about that end.
  private static func endsAbout(_ time: Int64, _ state: SubscriptionState, _ status: SubscriptionStatus) -> Bool {
    guard [.gracePeriod, .billingRetry, .expired].contains(status), let end = state.awaitedEnd else { return false }
    return (end.plus(-periodTolerance)...end.plus(SubscriptionGapRule.silenceAfter)).contains(time)
  }
}
