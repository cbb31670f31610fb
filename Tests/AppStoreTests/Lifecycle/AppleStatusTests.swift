import Foundation
import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

/// A step at noon of a day. The period with number n is bought on day 30 n as transaction `t<n>`, and has thirty days.
private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, period: Int64 = 0, status: Int64? = nil, revoked: Int64? = nil,
  transaction: String? = nil, purchase: Int64? = nil, expires: Int64? = nil, added: String? = nil, renews: Bool? = true,
  renewalDate: Int64? = nil, grace: Int64? = nil, uuid: String? = nil
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: uuid ?? "\(type)-\(subtype ?? "")-\(transaction ?? "\(period)")-\(time)", type: type, subtype: subtype,
    signedDate: time * day + day / 2, appleStatus: status,
    transaction: .init(
      transactionId: transaction ?? "t\(period)", productId: "pro", purchaseDate: (purchase ?? period * 30) * day,
      expiresDate: (expires ?? (period + 1) * 30) * day, revocationDate: revoked.map { $0 * day }, additionalTransactionReason: added),
    renewal: .init(
      autoRenew: renews, gracePeriodExpiresDate: grace.map { $0 * day }, renewalDate: renewalDate.map { $0 * day }))
}

private func observed(
  _ status: Int64, at time: Int64, transaction: String = "t0", purchase: Int64 = 0, expires: Int64 = 30, revoked: Int64? = nil
) throws -> LifecycleStep {
  var info: JSONObject = [
    "transactionId": .string(transaction), "purchaseDate": .integer(purchase * day), "expiresDate": .integer(expires * day),
    "signedDate": .integer(time * day),
  ]
  info["revocationDate"] = revoked.map { .integer($0 * day) }
  return try #require(
    LifecycleStep(
      observedStatus: status, transactionInfo: info, renewalInfo: ["autoRenewStatus": 1, "signedDate": .integer(time * day)]))
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  return history
}

/// The status in a notification is Apple's state as of its time of signing. It outranks what the steps lead to.
@Suite("Access follows Apple's status") struct AppleStatusTests {
  private static let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, status: 1)

  @Test("after a lost upgrade, the refund of the yearly period with status 1 leaves the subscription active and shows a gap")
  func lostUpgrade() throws {
    let bought = step("SUBSCRIBED", "INITIAL_BUY", at: 0, status: 1, transaction: "yearly", purchase: 0, expires: 365)
    for renews in [true, false] {
      let refund = step(
        "REFUND", at: 60, status: 1, revoked: 60, transaction: "yearly", purchase: 0, expires: 365, renews: renews, renewalDate: 90)
      var life = history([bought, refund])
      #expect(life.state?.status == (renews ? .active : .activeNotRenewing))
      #expect(life.state?.hasAccess(at: 89 * day) == true && life.state?.expiresDate == 90 * day)
      #expect(life.state?.hasAccess(at: 92 * day) == (renews ? nil : false), "the usual rules apply to the time after the end")
      #expect(life.state?.transactionId == nil && life.state?.revocationDate == nil)
      let gap = try #require(life.gaps.first)
      #expect(life.gaps.count == 1 && gap.rules == [.changedFact] && gap.shownBy == refund.notificationUUID)
      life.repair(gap, by: try observed(1, at: 61, transaction: "monthly", purchase: 60, expires: 90))
      #expect(life.state?.status == .active && life.state?.transactionId == "monthly" && life.gaps.isEmpty)
    }
    // The upgrade arrives late.
    let upgrade = step(
      "DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: 59, status: 1, transaction: "monthly", purchase: 59, expires: 90)
    let refund = step("REFUND", at: 60, status: 1, revoked: 60, transaction: "yearly", purchase: 0, expires: 365, renewalDate: 90)
    #expect(history([bought, refund, upgrade]).gaps.isEmpty)
    #expect(history([bought, refund, upgrade]).state?.transactionId == "monthly")
    let ended = history([bought, refund, step("REFUND", at: 61, status: 5, revoked: 61, transaction: "monthly", purchase: 59, expires: 90)])
    #expect(ended.state?.status == .revoked && ended.gaps.count == 1, "the refund of the unknown period is no further gap")
    // Without renewal information, the end is unknown, and Apple's answer may name an earlier one than that of the refunded period.
    let bare = step("REFUND", at: 60, status: 1, revoked: 60, transaction: "yearly", purchase: 0, expires: 365, renews: false)
    var unknown = history([bought, bare])
    #expect(unknown.state?.endIsAssumed == true && unknown.state?.hasAccess(at: 61 * day) == true)
    #expect(unknown.state?.hasAccess(at: 367 * day) == nil, "the end is not known, so it is not the end of access")
    unknown.repair(try #require(unknown.gaps.first), by: try observed(1, at: 61, transaction: "monthly", purchase: 60, expires: 90))
    #expect(unknown.state?.expiresDate == 90 * day && unknown.state?.endIsAssumed == false)
  }

  @Test("of two transactions of one period, the refund of one leaves the subscription active without a gap", arguments: [true, false])
  func addedTransaction(isAnnounced: Bool) {
    let added = step(
      "DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", at: 10, status: 1, transaction: "added", purchase: 10, expires: 30,
      added: "SEAT_ADDITION")
    let known = [Self.bought] + (isAnnounced ? [added] : [])
    let refund = step(
      "REFUND", at: 12, status: 1, revoked: 12, transaction: "added", purchase: 10, expires: 30, added: "SEAT_ADDITION", renewalDate: 30)
    let life = history(known + [refund])
    #expect(life.state?.status == .active && life.state?.hasAccess(at: 13 * day) == true && life.gaps.isEmpty)
    #expect(life.state?.transactionId == "t0" && life.state?.expiresDate == 30 * day && life.state?.revocationDate == nil)
    #expect(SubscriptionHistory(stored: life.stored) == life)
    // The first one has the reason too. When the last one is refunded, the subscription ends.
    func first(_ time: Int64, _ status: Int64) -> LifecycleStep {
      step("REFUND", at: time, status: status, revoked: time, added: "SEAT_ADDITION", renewalDate: 30)
    }
    let both = history(known + [refund, first(13, 5)])
    #expect(both.state?.status == .revoked && both.gaps.isEmpty)
    let other = history(known + [first(11, 1)])
    #expect(other.state?.status == .active && other.gaps.isEmpty && other.state?.revocationDate == nil)
    let reversed = step("REFUND", at: 12, status: 5, revoked: 12, transaction: "added", purchase: 10, expires: 30, added: "SEAT_ADDITION")
    let last = history(known + [first(11, 1), reversed])
    #expect(last.state?.status == .revoked && last.gaps.isEmpty)
    #expect(history(known + [refund, step("DID_RENEW", at: 30, period: 1, status: 1)]).gaps.isEmpty)
  }

  @Test("a refund under an id next to the known one is reversed under the known one", arguments: [5, 1, nil] as [Int64?])
  func nextId(_ status: Int64?) {
    let refund = step("REFUND", at: 10, status: status, revoked: 10, transaction: "t0-next")
    let refunded = history([Self.bought, refund])
    #expect(refunded.state?.status == (status == 1 ? .active : .revoked))
    let reversed = history([Self.bought, refund, step("REFUND_REVERSED", at: 12, status: 1)])
    #expect(reversed.state?.status == .active && reversed.state?.hasAccess(at: 13 * day) == true)
    #expect(reversed.state?.transactionId == "t0" && reversed.state?.revocationDate == nil)
    if status != 1 { #expect(reversed.gaps.isEmpty) }
    // Without a status too, and for the same purchase only.
    #expect(history([Self.bought, refund, step("REFUND_REVERSED", at: 12)]).state?.status == .active)
    if status != 1 { #expect(history([Self.bought, refund, step("REFUND_REVERSED", at: 12, period: -1)]).state?.status == .revoked) }
  }

  @Test("a revocation that is looked up with another date and no type does not begin again")
  func sameRevocation() throws {
    let revoked = history([Self.bought, step("REVOKE", at: 10, status: 5, revoked: 10)])
    #expect(revoked.state?.status == .revoked && revoked.gaps.isEmpty)
    let again = history(revoked.steps + [try observed(5, at: 20, revoked: 19), step("REFUND_DECLINED", at: 21, status: 5, revoked: 18)])
    #expect(again.state?.status == .revoked && again.state?.since == revoked.state?.since && again.gaps.isEmpty)
  }

  @Test("a status of 1, 3 or 4 outranks a revocation, and the difference is one gap", arguments: [1, 3, 4] as [Int64])
  func overRevocation(_ status: Int64) throws {
    let expected: SubscriptionStatus = status == 1 ? .active : status == 3 ? .billingRetry : .gracePeriod
    for steps in [
      [step("REFUND", at: 10, status: status, revoked: 10)], [step("REVOKE", at: 10, status: status, revoked: 10)],
      [step("CONSUMPTION_REQUEST", at: 10, status: status, revoked: 9)],
      // The reversal is lost.
      [step("REFUND", at: 10, status: 5, revoked: 10), step("CONSUMPTION_REQUEST", at: 11, status: status)],
      [step("REFUND", at: 10, status: 5, revoked: 10), step("REFUND_DECLINED", at: 11, status: status, revoked: 10)],
      [step("REVOKE", at: 10, status: 5, revoked: 10), step("PRICE_INCREASE", "PENDING", at: 11, status: status, revoked: 10)],
      [step("REVOKE", at: 10, revoked: 10), step("A_NEW_TYPE", at: 11, status: status, revoked: 10)],
    ] {
      let life = history([Self.bought] + steps)
      let last = try #require(life.steps.last)
      #expect(life.state?.status == expected && life.state?.revocationDate == nil, "\(steps.map(\.type))")
      #expect(life.state?.hasAccess(at: last.signedDate) == (status != 3), "\(steps.map(\.type))")
      #expect(life.gaps.map(\.rules) == [[.changedFact]] && life.gaps.first?.shownBy == last.notificationUUID, "\(steps.map(\.type))")
      // It is shown once, also if later steps have the same facts, with the same status or none.
      for again in [status, nil] {
        let after = history(life.steps + [step("CONSUMPTION_REQUEST", at: 12, status: again, revoked: 10)])
        #expect(after.state?.status == expected && after.gaps.count == 1, "\(steps.map(\.type))")
      }
      // The subscription can end again.
      let ended = history(life.steps + [step("REVOKE", at: 13, status: 5, revoked: 13)])
      #expect(ended.state?.status == .revoked && ended.gaps.count == 1, "\(steps.map(\.type))")
    }
    let lost = history([
      Self.bought, step("REFUND", at: 10, status: 5, revoked: 10), step("CONSUMPTION_REQUEST", at: 11, status: 1),
    ])
    #expect(lost.gaps.map(\.missing) == ["REFUND_REVERSED or SUBSCRIBED"])
    // It arrives late, before or after the step that shows it.
    for time in [10, 11] as [Int64] {
      let reversal = step("REFUND_REVERSED", at: time, status: 1, uuid: "z")
      #expect(history(lost.steps + [reversal]).gaps.isEmpty && history(lost.steps + [reversal]).state?.status == .active)
    }
  }

  @Test("Apple's answer with status 1 outranks a revocation, also if its transaction has one")
  func answer() throws {
    let revoked = [Self.bought, step("REVOKE", at: 10, status: 5, revoked: 10)]
    for observation in [try observed(1, at: 12), try observed(1, at: 12, revoked: 10)] {
      let life = history(revoked + [observation])
      #expect(life.state?.status == .active && life.state?.hasAccess(at: 13 * day) == true && life.gaps.isEmpty)
      #expect(life.state?.transactionId == "t0" && life.state?.expiresDate == 30 * day)
    }
    #expect(history(revoked + [try observed(5, at: 12, revoked: 10)]).state?.status == .revoked)
    // The status that outranked the revocation was wrong.
    let asked = step("CONSUMPTION_REQUEST", at: 11, status: 1)
    let corrected = history(revoked + [asked, try observed(5, at: 12, revoked: 10)])
    #expect(corrected.state?.status == .revoked && corrected.state?.revocationDate == 10 * day)
  }

  @Test(
    "while Apple retries a charge, the refund of the paid period changes nothing",
    arguments: [(3, nil), (4, "GRACE_PERIOD")] as [(Int64, String?)])
  func refundInRetry(_ status: Int64, _ subtype: String?) {
    let failed = step("DID_FAIL_TO_RENEW", subtype, at: 30, status: status, grace: subtype.map { _ in 46 })
    let life = history([Self.bought, failed, step("REFUND", at: 33, status: status, revoked: 33)])
    #expect(life.state?.status == (status == 3 ? .billingRetry : .gracePeriod) && life.gaps.isEmpty)
    #expect(life.state?.transactionId == "t0" && life.state?.gracePeriodExpiresDate == (status == 4 ? 46 * day : nil))
    // The failure is lost: it is announced a little later, or the difference is a gap.
    let near = history([Self.bought, step("REFUND", at: 30, status: status, revoked: 30, grace: 46)])
    #expect(near.gaps.isEmpty)
    #expect(history([Self.bought, step("REFUND", at: 33, status: status, revoked: 33, grace: 46)]).gaps.count == 1)
  }

  @Test(
    "an end with status 1 leaves the subscription active, and its time goes on",
    arguments: ["VOLUNTARY", "BILLING_RETRY", nil] as [String?])
  func ended(_ subtype: String?) {
    let cancelled = [
      Self.bought, step("DID_FAIL_TO_RENEW", at: 10, status: 3),
      step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 11, status: 3),
    ]
    let life = history(cancelled + [step("EXPIRED", subtype, at: 20, status: 1)])
    #expect(life.state?.status == .active && life.gaps.map(\.missing) == ["DID_RENEW or SUBSCRIBED"])
    #expect(life.state?.hasAccess(at: 31 * day) == true && life.state?.hasAccess(at: 32 * day) == nil)
    let off = history([Self.bought, step("EXPIRED", subtype, at: 20, status: 1, renews: false)])
    #expect(off.state?.hasAccess(at: 30 * day - 1) == true && off.state?.hasAccess(at: 30 * day) == false && !off.gaps.isEmpty)
    #expect(history([Self.bought, step("EXPIRED", at: 30, status: 2)]).gaps.isEmpty)
  }

  @Test(
    "a renewal with the status of an end is not believed against it",
    arguments: [(2, .expired), (3, .billingRetry), (5, .revoked)] as [(Int64, SubscriptionStatus)])
  func renewedAndOver(_ status: Int64, _ expected: SubscriptionStatus) {
    let life = history([Self.bought, step("DID_RENEW", at: 30, period: 1, status: status)])
    #expect(life.state?.status == expected && life.state?.hasAccess(at: 31 * day) == false)
    #expect(life.gaps.map(\.rules) == [[.changedFact]])
    #expect(life.state?.transactionId == "t1")
  }

  @Test(
    "a status that nobody has defined, and one that is no number, count as none",
    arguments: [.integer(6), .string("1"), nil, .integer(-1)] as [JSONValue?])
  func unusable(_ status: JSONValue?) throws {
    var data: JSONObject = ["bundleId": "com.example.app"]
    data["status"] = status
    let refund = try #require(
      LifecycleStep(
        notification: [
          "notificationUUID": "U", "notificationType": "REFUND", "signedDate": .integer(10 * day), "data": .object(data),
        ],
        transactionInfo: [
          "transactionId": "t0", "purchaseDate": 0, "expiresDate": .integer(30 * day), "revocationDate": .integer(10 * day),
        ], renewalInfo: nil))
    let life = history([Self.bought, refund])
    #expect(life.state?.status == .revoked && life.gaps.isEmpty)
  }

  @Test("an older period's refund leaves the subscription as it is, and its status is compared")
  func olderRefund() {
    let renewed = [Self.bought, step("DID_RENEW", at: 30, period: 1, status: 1)]
    func refunded(_ status: Int64) -> SubscriptionHistory { history(renewed + [step("REFUND", at: 40, status: status, revoked: 40)]) }
    #expect(refunded(1).state?.status == .active && refunded(1).gaps.isEmpty)
    for (status, expected) in [(2, .expired), (3, .billingRetry), (5, .revoked)] as [(Int64, SubscriptionStatus)] {
      #expect(refunded(status).state?.status == expected && refunded(status).gaps.count == 1)
    }
    let retried = history(
      renewed + [step("DID_FAIL_TO_RENEW", at: 60, period: 1, status: 3), step("REFUND", at: 62, status: 1, revoked: 62)])
    #expect(retried.state?.status == .active && retried.gaps.count == 1, "the recovery is lost")
  }

  @Test("a status of 1 after the known end shows a period that no step announced, once")
  func afterEnd() throws {
    let asked = step("CONSUMPTION_REQUEST", at: 45, status: 1, renews: false, renewalDate: 60)
    let life = history([Self.bought, asked])
    #expect(life.state?.status == .activeNotRenewing && life.state?.hasAccess(at: 50 * day) == true)
    #expect(life.state?.expiresDate == 60 * day && life.gaps.map(\.rules) == [[.changedFact]])
    #expect(history(life.steps + [step("REFUND_DECLINED", at: 46, status: 1, renews: false, renewalDate: 60)]).gaps.count == 1)
    let shown = step("PRICE_INCREASE", "PENDING", at: 47, period: 1, status: 1, renews: false, renewalDate: 60)
    #expect(history(life.steps + [shown]).gaps.count == 1, "its facts are no second gap")
    #expect(history(life.steps + [shown]).state?.transactionId == "t1")
    // The renewal arrives late.
    #expect(history(life.steps + [step("DID_RENEW", at: 30, period: 1, status: 1, renews: false)]).gaps.isEmpty)
    // Without renewal information, Apple's word of a later day moves the assumed end.
    let bare = history([Self.bought, step("CONSUMPTION_REQUEST", at: 45, status: 1, renews: false)])
    let later = history(bare.steps + [step("REFUND_DECLINED", at: 50, status: 1, renews: false)])
    #expect(later.state?.hasAccess(at: 51 * day) == true && later.state?.hasAccess(at: 52 * day) == nil && later.gaps.count == 1)
    // Apple has not renewed the known period yet: its end is the newest one.
    let waiting = history([Self.bought, step("CONSUMPTION_REQUEST", at: 30, status: 1, renewalDate: 30)])
    #expect(waiting.state?.transactionId == "t0" && waiting.gaps.isEmpty)
  }

  @Test("a reversed refund of a period that is over, with status 1, shows a later period")
  func lateReversal() {
    let refunded = [Self.bought, step("REFUND", at: 10, status: 5, revoked: 10)]
    let life = history(refunded + [step("REFUND_REVERSED", at: 40, status: 1, renewalDate: 60)])
    #expect(life.state?.status == .active && life.state?.expiresDate == 60 * day)
    #expect(life.gaps.map(\.rules) == [[.changedFact]])
    #expect(history(refunded + [step("REFUND_REVERSED", at: 20, status: 1, renewalDate: 30)]).gaps.isEmpty)
  }

  @Test("a grace period whose known end has passed goes on if Apple says so")
  func longerGrace() {
    let failed = step("DID_FAIL_TO_RENEW", "GRACE_PERIOD", at: 30, status: 4, grace: 33)
    let life = history([Self.bought, failed, step("CONSUMPTION_REQUEST", at: 35, status: 4)])
    #expect(life.state?.status == .gracePeriod && life.state?.hasAccess(at: 36 * day) == nil)
    #expect(life.silenceDue() == 31 * day, "Apple is asked at once")
    #expect(history([Self.bought, failed]).state?.hasAccess(at: 34 * day) == false)
  }

  @Test("the end of a period that only a status shows is silence a day later")
  func silentEnd() throws {
    let cancelled = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, status: 1, renews: false)
    let asked = step("CONSUMPTION_REQUEST", at: 30, status: 2, renews: false)
    var life = history([Self.bought, cancelled, asked])
    #expect(life.state?.status == .expired && life.gaps.isEmpty && life.silenceDue() == 31 * day)
    let gap = try #require(life.silence(at: 32 * day))
    #expect(life.state?.status(at: 32 * day) == .expired && life.state?.hasAccess(at: 32 * day) == false)
    #expect(history(life.steps + [step("EXPIRED", "VOLUNTARY", at: 30, status: 2, renews: false, uuid: "z")]).silenceDue() == nil)
    life.repair(gap, by: try observed(2, at: 32))
    #expect(life.state?.status == .expired && life.silenceDue() == nil && life.gaps.isEmpty)
  }

  @Test("the usual sequences of notifications with Apple's statuses have no gap", arguments: AppleStatusTests.usual.indices)
  func usualSequences(_ index: Int) {
    let life = history(Self.usual[index])
    #expect(life.gaps.map(\.shownBy) == [], "\(Self.usual[index].map(\.type))")
    for (step, status) in zip(life.steps, life.statuses) {
      let apple = step.appleStatus.flatMap { SubscriptionStatus(appleStatus: $0, autoRenew: nil) }
      let expected = status == .activeNotRenewing ? .active : status
      #expect(apple == expected || (apple == .expired && status == .revoked), "\(step.type)")
    }
  }

  private static let usual: [[LifecycleStep]] = {
    let cancelled = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, status: 1, renews: false)
    let failed = step("DID_FAIL_TO_RENEW", at: 30, status: 3)
    let grace = step("DID_FAIL_TO_RENEW", "GRACE_PERIOD", at: 30, status: 4, grace: 46)
    let graceOver = step("GRACE_PERIOD_EXPIRED", at: 46, status: 3)
    let renewed = step("DID_RENEW", at: 30, period: 1, status: 1)
    let ended = step("EXPIRED", "VOLUNTARY", at: 30, status: 2, renews: false)
    let refunded = step("REFUND", at: 12, status: 5, revoked: 12)
    let back = step("SUBSCRIBED", "RESUBSCRIBE", at: 60, period: 2, status: 1)
    let asked = step("CONSUMPTION_REQUEST", at: 11, status: 1)
    return [
      [cancelled, ended], [cancelled, step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: 12, status: 1), renewed],
      [failed, step("DID_RENEW", "BILLING_RECOVERY", at: 35, period: 1, status: 1)],
      [grace, step("DID_RENEW", "BILLING_RECOVERY", at: 35, period: 1, status: 1)],
      [grace, graceOver, step("DID_RENEW", "BILLING_RECOVERY", at: 50, status: 1, transaction: "t5", purchase: 50, expires: 80)],
      [
        grace, graceOver, step("EXPIRED", "BILLING_RETRY", at: 90, status: 2),
        step("SUBSCRIBED", "RESUBSCRIBE", at: 95, period: 3, status: 1),
      ],
      [
        failed, step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 40, status: 3, renews: false),
        step("EXPIRED", "VOLUNTARY", at: 40, status: 2, renews: false, uuid: "z"),
      ],
      [
        step("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: 5, status: 1, transaction: "plus", purchase: 5, expires: 35),
        step("REFUND", at: 6, status: 1, revoked: 5, renewalDate: 35),
      ],
      [step("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", at: 5, status: 1), step("DID_CHANGE_RENEWAL_PREF", at: 6, status: 1), renewed],
      [step("PRICE_INCREASE", "PENDING", at: 5, status: 1), step("EXPIRED", "PRICE_INCREASE", at: 30, status: 2)],
      [step("PRICE_INCREASE", "ACCEPTED", at: 5, status: 1), renewed], [step("EXPIRED", "PRODUCT_NOT_FOR_SALE", at: 30, status: 2)],
      [step("OFFER_REDEEMED", at: 5, status: 1), step("OFFER_REDEEMED", "DOWNGRADE", at: 6, status: 1)],
      [step("RENEWAL_EXTENDED", at: 5, status: 1, expires: 45), step("REFUND_DECLINED", at: 40, status: 1, expires: 45)],
      [step("METADATA_UPDATE", at: 5, status: 1), step("PRICE_CHANGE", at: 6, status: 1), step("MIGRATION", at: 7, status: 1)],
      [asked, step("REFUND_DECLINED", at: 12, status: 1)], [asked, refunded, step("REFUND_REVERSED", at: 20, status: 1), renewed],
      [refunded, step("REFUND_REVERSED", at: 40, status: 2, renews: false), back],
      [refunded, step("REFUND_REVERSED", at: 31, status: 3), step("EXPIRED", "BILLING_RETRY", at: 90, status: 2)],
      [refunded, step("EXPIRED", at: 30, status: 2, revoked: 12, renews: false)],
      [refunded, step("EXPIRED", at: 30, status: 5, revoked: 12, renews: false), back],
      [step("REVOKE", at: 12, status: 5, revoked: 12), back], [step("REVOKE", at: 12, status: 2, revoked: 12)],
      [step("REFUND", "SEATS", at: 12, status: 1)], [renewed, step("REFUND", at: 40, status: 1, revoked: 40)],
      [cancelled, ended, step("REFUND", at: 40, status: 2, revoked: 40)],
      [cancelled, ended, step("REFUND", at: 40, status: 5, revoked: 40), back],
    ].map { [bought] + $0 }
  }()

  @Test("in any order, the newest status decides, and access is not denied against it without a gap")
  func properties() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    let types: [(String, String?)] = [
      ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", "RESUBSCRIBE"), ("DID_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY"),
      ("DID_FAIL_TO_RENEW", nil), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "VOLUNTARY"),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("REFUND", nil), ("REFUND", "SEATS"),
      ("REFUND_REVERSED", nil), ("REVOKE", nil), ("CONSUMPTION_REQUEST", nil), ("RENEWAL_EXTENDED", nil), ("A_NEW_TYPE", nil),
    ]
    let rounds = ProcessInfo.processInfo.environment["ATTRIBUTION_SOAK"] == nil ? 300 : 20_000
    func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &generator) ? value : nil }
    for _ in 0..<rounds {
      let steps = (0..<Int64.random(in: 1...10, using: &generator)).map { index in
        let (type, subtype) = types.randomElement(using: &generator)!
        let time = Int64.random(in: 0...90, using: &generator)
        let period = Int64.random(in: 0...2, using: &generator)
        return step(
          type, subtype, at: time, period: period, status: [nil, 1, 1, 2, 3, 4, 5, 6].randomElement(using: &generator)!,
          revoked: maybe(time), added: Int.random(in: 0...4, using: &generator) == 0 ? "SEAT_ADDITION" : nil,
          renews: maybe(Bool.random(using: &generator)), renewalDate: maybe(Int64.random(in: 0...120, using: &generator)),
          grace: maybe(Int64.random(in: 0...120, using: &generator)), uuid: "u\(index)")
      }
      let life = history(steps)
      let other = history((steps + steps).shuffled(using: &generator))
      #expect(life.state == other.state && life.gaps == other.gaps, "seed \(seed)")
      #expect(SubscriptionHistory(stored: other.stored) == other, "seed \(seed)")
      #expect(life.state.flatMap { SubscriptionState(json: $0.json) } == life.state, "seed \(seed)")
      #expect(Set(life.gaps.map(\.id)).count == life.gaps.count, "seed \(seed)")
      guard let last = life.steps.last, let state = life.state, let number = last.appleStatus,
        let apple = SubscriptionStatus(appleStatus: number, autoRenew: state.autoRenew)
      else { continue }
      #expect(state.status == apple || (apple == .expired && state.status == .revoked), "seed \(seed)")
      let access = state.hasAccess(at: last.signedDate)
      // Access ends at a date that Apple named in the same notification, by the usual rules.
      let end = state.expiresDate ?? .max
      let isNamedEnd = SubscriptionFold.beginsPeriod(last) || (last.renewal?.renewalDate.map { $0 <= end } ?? false)
      if number == 1 { #expect(access != false || (end <= last.signedDate && isNamedEnd), "seed \(seed)") }
      if number == 4 { #expect(access != false, "seed \(seed)") }
      // A revocation is not left in silence.
      let before = history(Array(life.steps.dropLast()))
      if [1, 3, 4].contains(number), last.type == "CONSUMPTION_REQUEST", before.state?.status == .revoked {
        #expect(life.gaps.contains { $0.shownBy == last.notificationUUID }, "seed \(seed)")
      }
      // Time and a further step without a status do not revoke it.
      if [1, 3, 4].contains(number), state.status != .revoked {
        let asked = step("A_NEW_TYPE", at: 91, period: 0, revoked: last.transaction?.revocationDate.map { $0 / day }, renews: nil)
        if last.transaction?.transactionId == "t0", last.type != "REFUND_REVERSED" {
          #expect(history(life.steps + [asked]).state?.status != .revoked, "seed \(seed)")
        }
      }
    }
  }
}
