import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, expires: Int64, transaction: String = "t1", purchase: Int64 = 0
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: "\(type)-\(time)", type: type, subtype: subtype, signedDate: time * day,
    transaction: .init(transactionId: transaction, purchaseDate: purchase * day, expiresDate: expires * day), renewal: nil)
}

private func observed(_ status: Int64, at time: Int64, expires: Int64, transaction: String = "t1", renews: Bool = true) throws
  -> LifecycleStep
{
  try #require(
    LifecycleStep(
      observedStatus: status,
      transactionInfo: [
        "transactionId": .string(transaction), "expiresDate": .integer(expires * day), "signedDate": .integer(time * day),
      ], renewalInfo: ["autoRenewStatus": .integer(renews ? 1 : 0), "signedDate": .integer(time * day)]))
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  return history
}

@Suite("Gaps and their repair") struct SubscriptionRepairTests {
  @Test("silence is due some time after the end of what was paid or granted, and never for an ended subscription")
  func due() {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    #expect(history([bought]).silenceDue(after: 5 * day) == 35 * day)
    #expect(history([bought]).silence(at: 35 * day, after: 5 * day) == nil)
    let gap = history([bought]).silence(at: 35 * day + 1, after: 5 * day)
    #expect(gap?.rules == [.silence])
    #expect(gap?.id == "silence:\(30 * day)")
    #expect(gap?.missing == "DID_RENEW or EXPIRED")
    let grace = LifecycleStep(
      notificationUUID: "g", type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", signedDate: 30 * day, transaction: nil,
      renewal: .init(gracePeriodExpiresDate: 46 * day))
    #expect(history([bought, grace]).silenceDue(after: day) == 47 * day)
    #expect(history([bought, step("EXPIRED", "VOLUNTARY", at: 30, expires: 30)]).silenceDue() == nil)
    #expect(history([]).silenceDue() == nil)
  }

  @Test("Apple retries billing for sixty days; silence for some time after them is a gap")
  func retryOver() throws {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    let failed = history([bought, step("DID_FAIL_TO_RENEW", at: 30, expires: 30)])
    #expect(failed.silenceDue() == 91 * day)
    #expect(failed.silence(at: 91 * day) == nil)
    #expect(failed.state?.status(at: 91 * day) == .billingRetry)
    let gap = try #require(failed.silence(at: 91 * day + 1))
    #expect(gap.id == "silence:\(90 * day)" && gap.missing == "DID_RENEW/BILLING_RECOVERY or EXPIRED/BILLING_RETRY")
    #expect(failed.state?.status(at: 91 * day + 1) == .unknownOverdue)
    var lost = failed
    lost.repair(gap, by: try observed(2, at: 92, expires: 30))
    #expect(lost.state?.status == .expired && lost.silenceDue() == nil)
    // The grace period is part of the sixty days. If the end is unknown, they begin with the failure.
    let grace = step("DID_FAIL_TO_RENEW", "GRACE_PERIOD", at: 30, expires: 30)
    #expect(history([bought, grace, step("GRACE_PERIOD_EXPIRED", at: 46, expires: 30)]).silenceDue() == 91 * day)
    let unknown = LifecycleStep(
      notificationUUID: "u", type: "DID_FAIL_TO_RENEW", subtype: nil, signedDate: 5 * day, transaction: nil, renewal: nil)
    #expect(history([unknown]).silenceDue() == 66 * day)
  }

  @Test("extreme dates cause no crash")
  func extremes() {
    for end in [Int64.max, .max - 1, .min, .min + 1] {
      for (type, subtype) in [("SUBSCRIBED", "INITIAL_BUY"), ("DID_FAIL_TO_RENEW", nil), ("DID_RENEW", nil)] as [(String, String?)] {
        let life = history([
          LifecycleStep(
            notificationUUID: "a", type: "SUBSCRIBED", subtype: "INITIAL_BUY", signedDate: 1,
            transaction: .init(transactionId: "t", purchaseDate: end, expiresDate: end), renewal: nil),
          LifecycleStep(
            notificationUUID: "b", type: type, subtype: subtype, signedDate: 2,
            transaction: .init(transactionId: "u", purchaseDate: end, expiresDate: end), renewal: nil),
        ])
        #expect(life.state?.expiresDate == end)
        _ = life.gaps
        for now in [Int64.min, 0, .max] {
          _ = life.silence(at: now)
          _ = life.state?.status(at: now)
        }
      }
    }
  }

  @Test("a new status of Apple ends a silence; an unchanged status is queried again later")
  func silence() throws {
    var over = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)])
    var renewed = over
    var same = over
    let gap = try #require(over.silence(at: 32 * day))
    over.repair(gap, by: try observed(2, at: 32, expires: 30))
    #expect(over.state?.status == .expired)
    #expect(over.silenceDue() == nil)
    #expect(over.gaps.isEmpty)
    renewed.repair(gap, by: try observed(1, at: 32, expires: 60, transaction: "t2"))
    #expect(renewed.state?.status == .active)
    #expect(renewed.silence(at: 60 * day) == nil)
    #expect(renewed.silenceDue() == 61 * day)
    same.repair(gap, by: try observed(1, at: 32, expires: 30))
    #expect(same.silence(at: 33 * day) == nil)
    #expect(same.silence(at: 33 * day + 1)?.id == gap.id)
    #expect(same.state?.status(at: 33 * day) == .unknownOverdue)
    // If Apple has no status, it is not asked again.
    var unknown = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)])
    unknown.repair(gap, by: nil)
    #expect(unknown.silenceDue() == nil)
  }

  @Test("a gap without notifications is settled with Apple's status, and later steps continue from it")
  func settled() throws {
    var life = history([
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30),
      step("DID_RENEW", "BILLING_RECOVERY", at: 33, expires: 63, transaction: "t2", purchase: 33),
    ])
    let gap = try #require(life.gaps.first)
    #expect(gap.missing == "DID_FAIL_TO_RENEW")
    #expect(life.has(gap: gap.id, at: 34 * day))
    life.repair(gap, by: try observed(1, at: 34, expires: 63, transaction: "t2", renews: false))
    #expect(life.gaps.isEmpty)
    #expect(!life.has(gap: gap.id, at: 34 * day))
    #expect(life.state?.status == .activeNotRenewing)
    #expect(life.steps.last?.isObservation == true)
    // The cancellation was not announced, but its effect was observed.
    _ = life.insert(step("EXPIRED", "VOLUNTARY", at: 63, expires: 63, transaction: "t2", purchase: 33))
    #expect(life.gaps.isEmpty)
    #expect(life.state?.status == .expired)
    var stored = try #require(SubscriptionHistory(stored: life.stored))
    #expect(stored == life)
    stored.bundleId = "com.example.app"
    #expect(SubscriptionHistory(stored: stored.stored)?.bundleId == "com.example.app")
  }

  @Test("the position of a gap changes with late steps before it, which may open it again, and not with later steps")
  func position() throws {
    var life = history([
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("EXPIRED", "VOLUNTARY", at: 30, expires: 30),
    ])
    let gap = try #require(life.gaps.first)
    #expect(life.position(of: gap) == 1)
    _ = life.insert(step("SUBSCRIBED", "RESUBSCRIBE", at: 40, expires: 70, transaction: "t2", purchase: 40))
    for period in 1...Int64(SubscriptionHistory.maxSteps / 3) {
      let start = 40 + 30 * period
      _ = life.insert(step("DID_RENEW", at: start, expires: start + 30, transaction: "r\(period)", purchase: start))
    }
    #expect(life.gaps.map(\.id) == [gap.id] && life.position(of: gap) == 1)
    // One late step closes the gap, and another one opens it again.
    _ = life.insert(step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, expires: 30))
    #expect(life.gaps.isEmpty)
    _ = life.insert(step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: 20, expires: 30))
    #expect(life.gaps.map(\.id) == [gap.id] && life.position(of: gap) == 3)
    // Apple cannot be asked.
    life.repair(gap, by: nil)
    #expect(life.gaps.isEmpty && life.settledGaps == [gap.id])
    let silence = try #require(life.silence(at: 10_000 * day))
    #expect(life.position(of: silence) == life.steps.count)
  }

  @Test("a recovered notification closes its gap before or after the repair")
  func order() throws {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    let cancelled = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 20, expires: 30)
    let ended = step("EXPIRED", "VOLUNTARY", at: 30, expires: 30)
    let seen = try observed(2, at: 31, expires: 30, renews: false)
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    for _ in 0..<50 {
      let life = history([bought, cancelled, ended, seen].shuffled(using: &generator))
      #expect(life.gaps.isEmpty, "seed \(seed)")
      #expect(life.state?.status == .expired, "seed \(seed)")
    }
  }

  @Test("messages between services can be read back, and other data is refused")
  func messages() {
    let gap = SubscriptionGap(rules: [.entryRequired, .periodContinuity], missing: "DID_RENEW", after: 5, shownBy: "abc", before: 9)
    let report = GapReport(environment: "Sandbox", originalTransactionId: "17", bundleId: "com.example.app", gap: gap, foundAt: 11)
    #expect(GapReport(body: report.body) == report)
    #expect(report.key == "gap:Sandbox:17:abc")
    let observation = StatusObservation(
      environment: "Sandbox", bundleId: "com.example.app", originalTransactionId: "17",
      entry: .init(status: 2, signedTransactionInfo: "a.b.c", signedRenewalInfo: nil), gap: report, awaited: ["u1"], migrationId: "m")
    #expect(StatusObservation(body: observation.body) == observation)
    let unasked = StatusObservation(
      environment: "Sandbox", bundleId: "", originalTransactionId: "17", entry: nil, gap: report, refusal: "the app has no key")
    #expect(StatusObservation(body: unasked.body) == unasked)
    let settlement = GapSettlement(key: report.key, state: .recovered, repairedBy: "notifications", observedState: "expired")
    #expect(GapSettlement(body: settlement.body) == settlement)
    for text in ["", "{}", "[]", #"{"environment":"Sandbox","bundleId":"b","originalTransactionId":"1","gap":"{}"}"#] {
      #expect(GapReport(body: Array(text.utf8)) == nil)
      #expect(StatusObservation(body: Array(text.utf8)) == nil)
      #expect(GapSettlement(body: Array(text.utf8)) == nil)
    }
  }

  @Test("the natural key of looked-up data depends on its content, not on its signing time or member order")
  func keys() {
    func key(_ info: JSONObject) -> String { TransactionObservation.naturalKey(environment: "Production", transactionInfo: info) }
    let one: JSONObject = ["transactionId": "1", "price": 990, "signedDate": 5, "more": ["b": 1, "a": [2, 3]]]
    let same: JSONObject = ["more": ["a": [2, 3], "b": 1], "signedDate": 9, "price": 990, "transactionId": "1"]
    var refunded = one
    refunded["revocationDate"] = 7
    #expect(key(one) == key(same))
    #expect(key(one) != key(refunded))
    #expect(key(["price": 990]) != key(["price": 991]), "without an id, the other members decide")
    #expect(TransactionObservation.naturalKey(environment: "Sandbox", transactionInfo: one) != key(one))
    func status(_ number: Int64, _ renewal: JSONObject?) -> String {
      StatusObservation.naturalKey(
        environment: "Production", originalTransactionId: "1", status: number, transactionInfo: one, renewalInfo: renewal)
    }
    #expect(status(1, ["autoRenewStatus": 1, "signedDate": 1]) == status(1, ["signedDate": 2, "autoRenewStatus": 1]))
    #expect(status(1, ["autoRenewStatus": 1]) != status(1, ["autoRenewStatus": 0]))
    #expect(status(1, nil) != status(2, nil))
  }
}
