import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

/// A step about the period with this number. Periods have thirty days.
private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, period: Int64, revoked: Bool = false, status: Int64? = nil,
  renewalDate: Int64? = nil
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: "\(type)-\(period)-\(time)", type: type, subtype: subtype, signedDate: time * day, appleStatus: status,
    transaction: .init(
      transactionId: "t\(period)", productId: "pro", purchaseDate: period * 30 * day, expiresDate: (period + 1) * 30 * day,
      revocationDate: revoked ? time * day : nil),
    renewal: .init(autoRenew: true, renewalDate: renewalDate.map { $0 * day }))
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  return history
}

@Suite("Refunds of subscriptions") struct SubscriptionRefundTests {
  @Test("in every order of arrival, the refund of an older period does not end the subscription, and that of the last period does")
  func orders() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    for _ in 0..<500 {
      let periods = Int64.random(in: 1...5, using: &generator)
      let refunded = Int64.random(in: 0..<periods, using: &generator)
      let isLast = refunded == periods - 1
      let bought = (0..<periods).map { period in
        step(period == 0 ? "SUBSCRIBED" : "DID_RENEW", period == 0 ? "INITIAL_BUY" : nil, at: period * 30, period: period, status: 1)
      }
      let refund = step(
        "REFUND", at: periods * 30 - 10, period: refunded, revoked: true, status: isLast ? 5 : 1,
        renewalDate: isLast ? nil : periods * 30)
      let late = bought.filter { _ in Bool.random(using: &generator) }
      let early = bought.filter { !late.contains($0) }
      var life = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
      for step in ([refund] + early).shuffled(using: &generator) + late.shuffled(using: &generator) {
        _ = life.insert(step)
        let expected: SubscriptionStatus = isLast && life.steps.contains(refund) ? .revoked : .active
        #expect(life.state?.status == expected, "seed \(seed)")
        guard !isLast, life.steps.contains(refund) else { continue }
        #expect(SubscriptionHistory(stored: life.stored)?.state == life.state, "seed \(seed)")
        let newest: Int64? = life.steps.filter { $0.type != "REFUND" }.compactMap { $0.transaction?.expiresDate }.max()
        let knowsLater = newest.map { $0 > (refunded + 1) * 30 * day } ?? false
        guard !knowsLater else { continue }
        // The refund shows the current period and its end.
        #expect(life.state?.expiresDate == periods * 30 * day, "seed \(seed)")
        let isGap = life.gaps.contains { $0.shownBy == refund.notificationUUID && $0.rules.contains(.changedFact) }
        #expect(isGap == (newest != nil), "seed \(seed)")
      }
      #expect(life == SubscriptionHistory(stored: life.stored), "seed \(seed)")
      #expect(life.state == history(bought + [refund]).state, "seed \(seed)")
      #expect(life.gaps.isEmpty, "seed \(seed)")
    }
  }

  @Test("a refund that begins a history leaves the state to Apple's status", arguments: [1, 3, 4] as [Int64])
  func first(_ status: Int64) {
    let life = history([step("REFUND", at: 155, period: 3, revoked: true, status: status, renewalDate: 180)])
    let expected: [Int64: SubscriptionStatus] = [1: .active, 3: .billingRetry, 4: .gracePeriod]
    #expect(life.state?.status == expected[status])
    #expect(life.state?.transactionId == nil && life.state?.revocationDate == nil)
    #expect(life.state?.expiresDate == 180 * day)
    #expect(life.gaps.map(\.rules) == [[.unexplainedStart]])
    #expect(history([step("REFUND", at: 155, period: 3, revoked: true, status: 5)]).state?.status == .revoked)
    #expect(history([step("REFUND", at: 155, period: 3, revoked: true)]).state?.status == .revoked)
  }

  @Test("after a missed renewal, the refund of the known period is a gap, and Apple's answer completes the state")
  func missedRenewal() throws {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, period: 0, status: 1)
    let refund = step("REFUND", at: 40, period: 0, revoked: true, status: 1, renewalDate: 60)
    var life = history([bought, refund])
    let gap = try #require(life.gaps.first)
    #expect(life.gaps.count == 1 && gap.rules == [.changedFact] && gap.missing == "DID_RENEW or SUBSCRIBED")
    #expect(life.state?.status(at: 50 * day) == .active && life.silenceDue() == 61 * day)
    // Neither another refund of that period nor a step about the refunded transaction ends the subscription.
    let again = [
      step("CONSUMPTION_REQUEST", at: 41, period: 0, revoked: true, status: 1),
      step("REFUND", at: 42, period: 0, revoked: true, status: 1, renewalDate: 60), step("REFUND", at: 43, period: 0, revoked: true),
    ]
    #expect(history([bought, refund] + again).state?.status == .active)
    #expect(history([bought, refund] + again).gaps.count == 1)
    let observed = try #require(
      LifecycleStep(
        observedStatus: 1,
        transactionInfo: [
          "transactionId": "t1", "purchaseDate": .integer(30 * day), "expiresDate": .integer(60 * day), "signedDate": .integer(44 * day),
        ], renewalInfo: ["autoRenewStatus": 1, "signedDate": .integer(44 * day)]))
    life.repair(gap, by: observed)
    #expect(life.state?.status == .active && life.state?.transactionId == "t1" && life.gaps.isEmpty)
    #expect(history(life.steps + [step("DID_RENEW", at: 60, period: 2, status: 1)]).gaps.map(\.id) == [gap.id])
    // The refund of the current period ends the subscription.
    #expect(history(life.steps + [step("REFUND", at: 50, period: 1, revoked: true, status: 5)]).state?.status == .revoked)
  }

  @Test("a refund with status 1 does not end the subscription, whatever end the renewal information names", arguments: [20, 30, 31])
  func current(_ end: Int64) {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, period: 0, status: 1)
    let life = history([bought, step("REFUND", at: 10, period: 0, revoked: true, status: 1, renewalDate: end)])
    #expect(life.state?.status == .active && life.state?.hasAccess(at: 11 * day) == true && life.state?.revocationDate == nil)
    #expect(life.state?.expiresDate == end * day && life.state?.hasAccess(at: (end + 2) * day) == nil)
    #expect(life.gaps.map(\.rules) == [[.changedFact]])
  }

  @Test("a period that a refund shows without an end counts as ended, so that silence asks Apple about it")
  func withoutEnd() {
    let life = history([
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, period: 0, status: 1), step("REFUND", at: 40, period: 0, revoked: true, status: 1),
    ])
    #expect(life.state?.status == .active && life.state?.expiresDate == 40 * day)
    #expect(life.silenceDue() == 41 * day && life.state?.status(at: 42 * day) == .unknownOverdue)
    #expect(life.state?.hasAccess(at: 42 * day) == nil && life.state?.endIsAssumed == true)
    #expect(SubscriptionHistory(stored: life.stored)?.state == life.state)
    #expect(life.state.flatMap { SubscriptionState(json: $0.json) } == life.state)
  }

  @Test("like a refund, the revocation of an older period does not end the subscription", arguments: ["REFUND", "REVOKE"])
  func olderPeriod(_ type: String) {
    let renewed = [step("SUBSCRIBED", "INITIAL_BUY", at: 0, period: 0, status: 1), step("DID_RENEW", at: 30, period: 1, status: 1)]
    let older = history(renewed + [step(type, at: 40, period: 0, revoked: true)])
    #expect(older.state?.status == .active && older.state?.hasAccess(at: 41 * day) == true && older.gaps.isEmpty)
    #expect(older.state?.refunded == ["t0"])
    #expect(history(renewed + [step(type, at: 40, period: 1, revoked: true)]).state?.status == .revoked)
    #expect(history([step(type, at: 40, period: 0, revoked: true)]).state?.status == .revoked)
  }

  @Test("a step that shows a revocation shortly before its notification is no gap", arguments: ["REFUND", "REVOKE"])
  func shownBefore(_ type: String) {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, period: 0, status: 1)
    let early = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, period: 0, revoked: true, status: 1)
    let life = history([bought, early, step(type, at: 10, period: 0, revoked: true, status: 5)])
    #expect(life.state?.status == .revoked && life.gaps.isEmpty)
    #expect(history([bought, early, step(type, at: 11, period: 0, revoked: true, status: 5)]).gaps.isEmpty)
    // Without it, with the same status, of another transaction, or after more than a day, something is missing.
    #expect(history([bought, early]).gaps.count == 1)
    #expect(!history([bought, early, step(type, at: 11, period: 0, revoked: true, status: 1)]).gaps.isEmpty)
    #expect(!history([bought, early, step(type, at: 11, period: 1, revoked: true, status: 5)]).gaps.isEmpty)
    #expect(!history([bought, early, step(type, at: 12, period: 0, revoked: true, status: 5)]).gaps.isEmpty)
  }

  @Test("a notification is about a subscription by its renewal information, the type of its transaction, or Apple's status")
  func subject() {
    let transaction: JSONObject = ["transactionId": "2", "originalTransactionId": "1", "type": "Auto-Renewable Subscription"]
    func isAbout(_ type: JSONValue?, _ status: JSONValue? = nil, renewal: JSONObject? = nil) -> Bool {
      var transaction = transaction
      transaction["type"] = type
      var data = JSONObject()
      data["status"] = status
      return SubscriptionHistory.isAboutSubscription(["data": .object(data)], transactionInfo: transaction, renewalInfo: renewal)
    }
    #expect(isAbout("Auto-Renewable Subscription") && isAbout(nil, 5) && isAbout(5, 5) && isAbout(nil, renewal: [:]))
    #expect(!isAbout(nil) && !isAbout("Consumable") && !isAbout("Consumable", 5) && !isAbout("A New Type", 5) && !isAbout(nil, "5"))
    #expect(!SubscriptionHistory.isAboutSubscription(["data": ["status": 5]], transactionInfo: nil, renewalInfo: nil))
    func id(_ transaction: JSONObject?, _ renewal: JSONObject? = nil) -> String? {
      SubscriptionHistory.originalTransactionId(transactionInfo: transaction, renewalInfo: renewal)
    }
    #expect(id(transaction) == "1" && id(["transactionId": "2"]) == "2" && id(nil) == nil)
    #expect(id(["transactionId": "2"], ["originalTransactionId": "3"]) == "3")
  }

  @Test("while Apple retries a charge, the refund of the last paid period does not hide the retries")
  func retried() {
    let failed = [
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, period: 0, status: 1), step("DID_FAIL_TO_RENEW", at: 30, period: 0, status: 3),
      step("REFUND", at: 33, period: 0, revoked: true, status: 3),
    ]
    #expect(history(failed).state?.status == .billingRetry && history(failed).gaps.isEmpty)
    let recovered = history(failed + [step("DID_RENEW", "BILLING_RECOVERY", at: 35, period: 1, status: 1)])
    #expect(recovered.state?.status == .active && recovered.state?.revocationDate == nil)
    let ended = history(failed + [step("EXPIRED", "BILLING_RETRY", at: 90, period: 0, revoked: true, status: 2)])
    #expect(ended.state?.status == .expired && ended.gaps.isEmpty)
  }
}
