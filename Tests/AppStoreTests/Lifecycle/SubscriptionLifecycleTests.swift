import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, expires: Int64? = nil, uuid: String? = nil, transaction: String = "t1",
  purchase: Int64? = nil, revoked: Int64? = nil, status: Int64? = nil, renewal: LifecycleStep.Renewal? = nil
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: uuid ?? "\(type)-\(subtype ?? "")-\(time)", type: type, subtype: subtype, signedDate: time * day,
    appleStatus: status,
    transaction: .init(
      transactionId: transaction, productId: "pro", purchaseDate: purchase.map { $0 * day }, expiresDate: expires.map { $0 * day },
      revocationDate: revoked.map { $0 * day }), renewal: renewal)
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  return history
}

@Suite("Subscription lifecycle") struct SubscriptionLifecycleTests {
  /// A step from an entry of a vector. Times are in days.
  private static func vectorStep(_ value: JSONValue, _ index: Int) throws -> LifecycleStep {
    let parts = try #require(value.arrayValue)
    let facts = try #require(parts[2].objectValue)
    func days(_ name: String) -> Int64? { facts[name]?.int64Value.map { $0 * day } }
    return LifecycleStep(
      notificationUUID: facts["uuid"]?.stringValue ?? "event-\(index)", type: try #require(parts[0].stringValue),
      subtype: parts[1].stringValue, signedDate: try #require(days("t")),
      transaction: .init(transactionId: "t", expiresDate: days("expires"), revocationDate: days("revocationDate")),
      renewal: .init(gracePeriodExpiresDate: days("gracePeriodExpires")))
  }

  @Test("an upgrade to a shorter period is the newest one, though the old one would have ended later")
  func upgradeToShorter() {
    let life = history([
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 365, transaction: "yearly", purchase: 0),
      step("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: 5, expires: 35, transaction: "monthly", purchase: 5),
    ])
    #expect(life.state?.transactionId == "monthly")
    #expect(life.state?.expiresDate == 35 * day)
    #expect(life.gaps.isEmpty)
    #expect(life.state?.status(at: 37 * day) == .unknownOverdue)
    let refunded = history(life.steps + [step("REFUND", at: 6, expires: 35, transaction: "monthly", purchase: 5, revoked: 6)])
    #expect(refunded.state?.status == .revoked)
    #expect(refunded.state?.status.hasAccess == false)
    let old = history(life.steps + [step("REFUND", at: 6, expires: 365, transaction: "yearly", purchase: 0, revoked: 6)])
    #expect(old.state?.status == .active)
    #expect(old.state?.transactionId == "monthly")
  }

  @Test("a new start with a shorter period after a refund is followed to its end", arguments: [nil, 1] as [Int64?])
  func shorterAfterRefund(_ status: Int64?) {
    let life = history([
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 365, transaction: "yearly", purchase: 0),
      step("REFUND", at: 10, expires: 365, transaction: "yearly", purchase: 0, revoked: 10),
      step("SUBSCRIBED", "RESUBSCRIBE", at: 20, expires: 27, transaction: "weekly", purchase: 20, status: status),
    ])
    #expect(life.state?.status == .active)
    #expect(life.state?.expiresDate == 27 * day)
    #expect(life.state?.status(at: 45 * day) == .unknownOverdue)
    let renewed = history(life.steps + [step("DID_RENEW", at: 27, expires: 34, transaction: "weekly2", purchase: 27)])
    #expect(renewed.gaps.isEmpty)
    #expect(renewed.state?.transactionId == "weekly2")
  }

  @Test("the cases of lifecycle.json", arguments: AppStoreVectors.json("lifecycle.json").arrayValue ?? [])
  func vector(_ value: JSONValue) throws {
    let events = try #require(value["events"]?.arrayValue).enumerated().map { try Self.vectorStep($0.element, $0.offset) }
    let arrival = value["arrival"]?.arrayValue?.compactMap { $0.int64Value.map { Int($0) } } ?? Array(events.indices)
    var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
    var duplicates = 0
    for index in arrival {
      if case .duplicate = history.insert(events[index]) { duplicates += 1 }
    }
    let expected = try #require(value["expect"]?.objectValue)
    #expect(history.state?.status.rawValue == expected["final"]?.stringValue)
    if let states = expected["states"]?.arrayValue { #expect(history.statuses.map(\.rawValue) == states.compactMap(\.stringValue)) }
    if let applied = expected["applied"]?.int64Value { #expect(history.steps.count == Int(applied)) }
    if let count = expected["duplicates"]?.int64Value { #expect(duplicates == Int(count)) }
    if let autoRenew = expected["autoRenew"]?.boolValue { #expect(history.state?.autoRenew == autoRenew) }
    if let gaps = expected["gaps"]?.arrayValue {
      #expect(history.gaps.count == gaps.count)
      for (gap, named) in zip(history.gaps, gaps) {
        let before = try #require(named["before"]?.int64Value)
        #expect(gap.shownBy == history.steps[Int(before)].notificationUUID)
        #expect(gap.after == history.steps[Int(before) - 1].signedDate)
        // Its text in the vector: "period-jump and no renewal-status change seen".
        #expect(gap.rules == [.periodContinuity, .entryRequired])
      }
    }
  }

  @Test("arrival order and repeats change nothing but the flags of late steps")
  func permutations() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    let types: [(String, String?)] = [
      ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", "RESUBSCRIBE"), ("DID_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY"),
      ("DID_FAIL_TO_RENEW", nil), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "VOLUNTARY"),
      ("EXPIRED", "BILLING_RETRY"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"), ("REFUND", nil), ("REFUND_REVERSED", nil), ("REVOKE", nil), ("NEW_TYPE", "X"),
    ]
    for _ in 0..<300 {
      let steps = (0..<Int.random(in: 1...14, using: &generator)).map { index in
        let (type, subtype) = types.randomElement(using: &generator)!
        // Some times are equal.
        let time = Int64.random(in: 0...8, using: &generator)
        return step(
          type, subtype, at: time, expires: time + 30, uuid: "u\(index)", transaction: "t\(Int.random(in: 0...2, using: &generator))",
          purchase: Bool.random(using: &generator) ? time : nil)
      }
      let first = history(steps)
      let second = history((steps + steps).shuffled(using: &generator))
      #expect(first.steps == second.steps, "seed \(seed)")
      #expect(first.state == second.state, "seed \(seed)")
      #expect(first.gaps == second.gaps, "seed \(seed)")
      #expect(SubscriptionHistory(stored: second.stored) == second, "seed \(seed)")
    }
  }

  @Test("a late step is flagged permanently, and a repeat is recognised")
  func late() {
    var life = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("DID_RENEW", at: 30, expires: 60, transaction: "t2")])
    let missed = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, expires: 30)
    #expect(life.insert(missed) == .late)
    #expect(life.insert(missed) == .duplicate(late: true))
    #expect(life.insert(life.steps[0]) == .duplicate(late: false))
    #expect(life.state?.status == .active)
  }

  @Test("a late arrival closes the gap that it explains")
  func closing() {
    var life = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("EXPIRED", "VOLUNTARY", at: 30, expires: 30)])
    #expect(life.gaps.map(\.rules) == [[.entryRequired]])
    #expect(life.insert(step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 20, expires: 30)) == .late)
    #expect(life.gaps.isEmpty)
    #expect(life.state?.status == .expired)
  }

  @Test("a gap that could not be closed is not reported again")
  func settled() throws {
    var life = history([step("DID_RENEW", at: 30, expires: 60)])
    let gap = try #require(life.gaps.first)
    #expect(gap.rules == [.unexplainedStart] && gap.after == nil)
    life.settle(gap)
    #expect(life.gaps.isEmpty)
    #expect(SubscriptionHistory(stored: life.stored)?.gaps.isEmpty == true)
  }

  @Test("each step that requires an earlier one shows a gap if that is missing")
  func entries() {
    let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    for (type, subtype) in [
      ("DID_RENEW", "BILLING_RECOVERY"), ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "VOLUNTARY"), ("EXPIRED", "BILLING_RETRY"),
      ("EXPIRED", "PRICE_INCREASE"), ("SUBSCRIBED", "RESUBSCRIBE"), ("REFUND_REVERSED", nil),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
    ] as [(String, String?)] {
      let life = history([start, step(type, subtype, at: 30, expires: 30)])
      #expect(life.gaps.map(\.rules) == [[.entryRequired]], "\(type) \(subtype ?? "")")
    }
    // With the required earlier step there is no gap.
    for steps in [
      [("DID_FAIL_TO_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY")],
      [("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "BILLING_RETRY")],
      [("PRICE_INCREASE", "PENDING"), ("EXPIRED", "PRICE_INCREASE"), ("SUBSCRIBED", "RESUBSCRIBE")],
      [("REFUND", nil), ("REFUND_REVERSED", nil)], [("REVOKE", nil), ("SUBSCRIBED", "RESUBSCRIBE")],
      [("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")],
      [("EXPIRED", "PRODUCT_NOT_FOR_SALE")], [("EXPIRED", nil)],
    ] as [[(String, String?)]] {
      let all = steps.enumerated().map { step($0.element.0, $0.element.1, at: Int64(10 + $0.offset), expires: 30) }
      #expect(history([start] + all).gaps.isEmpty, "\(steps)")
    }
  }

  @Test("after a price notice, the content shows the direction of a renewal change without subtype")
  func switchWithoutSubtype() {
    let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    let off = step("DID_CHANGE_RENEWAL_STATUS", at: 10, expires: 30, renewal: .init(autoRenew: false))
    let on = step("DID_CHANGE_RENEWAL_STATUS", at: 12, expires: 30, renewal: .init(autoRenew: true))
    let over = step("EXPIRED", "VOLUNTARY", at: 30, expires: 30)
    #expect(history([start, off]).state?.status == .activeNotRenewing)
    #expect(history([start, off, over]).gaps.isEmpty)
    #expect(history([start, off, on]).state?.status == .active)
    #expect(history([start, off, on, over]).gaps.map(\.rules) == [[.entryRequired]])
  }

  @Test("a cancelled commitment is renewed monthly until its end, and its end needs no second cancellation")
  func commitment() throws {
    func renewal(_ renews: Int64, _ again: Int64) -> LifecycleStep.Renewal {
      .init(["autoRenewStatus": .integer(renews), "commitmentInfo": ["commitmentAutoRenewStatus": .integer(again)]])
    }
    // The next month is renewed and the next year is not, or neither is reported as renewed.
    for renews in [1, 0] as [Int64] {
      let cancelled = [
        step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, renewal: renewal(1, 1)),
        step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, expires: 30, renewal: renewal(renews, 0)),
        step("DID_RENEW", at: 30, expires: 60, transaction: "t2", purchase: 30, renewal: renewal(renews, 0)),
        step("DID_RENEW", at: 60, expires: 90, transaction: "t3", purchase: 60, renewal: renewal(renews, 0)),
      ]
      #expect(history(cancelled).state?.status.hasAccess == true)
      let over = history(cancelled + [step("EXPIRED", "VOLUNTARY", at: 90, expires: 90, transaction: "t3", purchase: 60)])
      #expect(over.gaps.isEmpty && over.state?.status == .expired)
      #expect(SubscriptionHistory(stored: over.stored) == over)
      let again = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: 70, expires: 90, transaction: "t3", renewal: renewal(1, 1))
      #expect(history(cancelled + [again]).gaps.isEmpty)
      #expect(history(cancelled + [again]).state?.status == .active)
    }
    // In a plan without a commitment, a renewal ends earlier cancellations.
    let plain = history([
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30),
      step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 10, expires: 30),
      step("DID_RENEW", at: 30, expires: 60, transaction: "t2", purchase: 30),
      step("EXPIRED", "VOLUNTARY", at: 60, expires: 60, transaction: "t2", purchase: 30),
    ])
    #expect(plain.gaps.map(\.rules) == [[.entryRequired]])
  }

  @Test("a renewal up to an hour after the previous period is no gap, and a later one is")
  func periods() {
    let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    func renewal(_ purchase: Int64) -> LifecycleStep {
      LifecycleStep(
        notificationUUID: "r", type: "DID_RENEW", subtype: nil, signedDate: purchase,
        transaction: .init(transactionId: "t2", purchaseDate: purchase, expiresDate: purchase + 30 * day), renewal: nil)
    }
    #expect(history([start, renewal(30 * day + 3_600_000)]).gaps.isEmpty)
    #expect(history([start, renewal(30 * day + 3_600_001)]).gaps.map(\.rules) == [[.periodContinuity]])
    // A renewal up to a day early is normal.
    #expect(history([start, renewal(29 * day)]).gaps.isEmpty)
    // After a failure the new period begins when the customer pays.
    #expect(history([start, step("DID_FAIL_TO_RENEW", at: 30, expires: 30), renewal(40 * day)]).gaps.isEmpty)
  }

  @Test("any step of a period after a missing one shows the gap")
  func holes() {
    let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0)
    for (type, subtype) in [
      ("DID_RENEW", nil), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("RENEWAL_EXTENDED", nil), ("OFFER_REDEEMED", nil),
      ("OFFER_REDEEMED", "UPGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"),
    ] as [(String, String?)] {
      func after(_ purchase: Int64) -> SubscriptionHistory {
        history([start, step(type, subtype, at: purchase + 1, expires: purchase + 30, transaction: "t2", purchase: purchase)])
      }
      #expect(after(60).gaps.map(\.rules) == [[.periodContinuity]], "\(type) \(subtype ?? "")")
      #expect(after(60).gaps.map(\.missing) == ["DID_RENEW"])
      // A step that begins no period belongs to the last announced period.
      let isGap = type == "RENEWAL_EXTENDED" || subtype == "DOWNGRADE"
      #expect(after(20).gaps.map(\.rules) == (isGap ? [[.periodContinuity]] : []), "\(type) \(subtype ?? "")")
      let same = step(type, subtype, at: 20, expires: 45, transaction: "t1", purchase: 0)
      #expect(history([start, same]).gaps.isEmpty, "\(type) \(subtype ?? "")")
    }
    // A new start after the end requires the end, and not the periods between.
    let again = history([start, step("OFFER_REDEEMED", "RESUBSCRIBE", at: 60, expires: 90, transaction: "t2", purchase: 60)])
    #expect(again.gaps.map(\.rules) == [[.entryRequired]] && again.gaps.map(\.missing) == ["EXPIRED or REVOKE"])
  }

  @Test("after a reversed refund, missing steps are detected")
  func holesAfterReversal() {
    let reversed = [
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0), step("REFUND", at: 5, expires: 30, purchase: 0, revoked: 5),
      step("REFUND_REVERSED", at: 6, expires: 30, purchase: 0),
    ]
    #expect(history(reversed).gaps.isEmpty)
    let late = history(reversed + [step("DID_RENEW", at: 60, expires: 90, transaction: "t2", purchase: 60)])
    #expect(late.gaps.map(\.rules) == [[.periodContinuity]])
    let resubscribed = step("SUBSCRIBED", "RESUBSCRIBE", at: 60, expires: 90, transaction: "t2", purchase: 60)
    #expect(history(reversed + [resubscribed]).gaps.map(\.rules) == [[.entryRequired]])
    // The refund is reversed after the end of the period. No EXPIRED is required, because the subscription was revoked then.
    let past = Array(reversed.prefix(2)) + [step("REFUND_REVERSED", at: 40, expires: 30, purchase: 0), resubscribed]
    #expect(history(past).gaps.isEmpty)
  }

  @Test(
    "a status in another notification that no step announced shows a gap",
    arguments: ["CONSUMPTION_REQUEST", "REFUND_DECLINED", "PRICE_INCREASE", "RENEWAL_EXTENDED"])
  func unannouncedStatus(type: String) {
    let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0)
    func beside(_ status: Int64, after steps: [LifecycleStep]) -> SubscriptionHistory {
      history(steps + [step(type, at: 20, expires: 30, purchase: 0, status: status)])
    }
    for (status, missing) in [
      (2, "EXPIRED"), (3, "DID_FAIL_TO_RENEW or GRACE_PERIOD_EXPIRED"), (4, "DID_FAIL_TO_RENEW/GRACE_PERIOD"), (5, "REFUND or REVOKE"),
    ] as [(Int64, String)] {
      let life = beside(status, after: [start])
      #expect(life.gaps.map(\.rules) == [[.changedFact]], "\(status)")
      #expect(life.gaps.map(\.missing) == [missing])
      // The gap is reported once, because the next step is compared with this one.
      #expect(history(life.steps + [step(type, at: 21, expires: 30, purchase: 0, status: status)]).gaps.count == 1)
    }
    #expect(beside(1, after: [start]).gaps.isEmpty)
    #expect(beside(9, after: [start]).gaps.isEmpty, "a number that nobody has defined")
    let cancelled = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 3, expires: 30)
    #expect(beside(1, after: [start, cancelled]).gaps.isEmpty)
    let failed = step("DID_FAIL_TO_RENEW", at: 10, expires: 30)
    #expect(beside(3, after: [start, failed]).gaps.isEmpty)
    #expect(beside(1, after: [start, failed]).gaps.map(\.missing) == ["DID_RENEW or SUBSCRIBED"])
    let refunded = step("REFUND", at: 10, expires: 30, purchase: 0, revoked: 10)
    #expect(beside(2, after: [start, refunded]).gaps.isEmpty)
  }

  @Test("a status that changed just before its announcement is no gap, and a gap is reported once")
  func statusBeforeItsAnnouncement() {
    let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0)
    let cancelled = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 3, expires: 30)
    func asked(at time: Int64, _ status: Int64) -> LifecycleStep {
      step("CONSUMPTION_REQUEST", at: time, expires: 30, purchase: 0, status: status)
    }
    // At the end, and up to a day later.
    for (status, days) in [(2, 30), (3, 30), (4, 31)] as [(Int64, Int64)] {
      #expect(history([start, cancelled, asked(at: days, status)]).gaps.isEmpty)
    }
    for days in [29, 32] as [Int64] {
      let life = [start, cancelled, asked(at: days, 2)]
      #expect(history(life).gaps.map(\.missing) == ["EXPIRED"])
      #expect(history(life + [step("EXPIRED", "VOLUNTARY", at: days + 1, expires: 30)]).gaps.isEmpty, "announced within a day")
      #expect(history(life + [step("EXPIRED", "VOLUNTARY", at: days + 2, expires: 30)]).gaps.map(\.missing) == ["EXPIRED"])
      let back = step("SUBSCRIBED", "RESUBSCRIBE", at: days + 3, expires: 90, transaction: "t2", purchase: days + 3)
      #expect(history(life + [back]).gaps.map(\.missing) == ["EXPIRED"], "the end is missed once")
    }
    let recovered = step("DID_RENEW", "BILLING_RECOVERY", at: 25, expires: 60, transaction: "t2", purchase: 25)
    #expect(history([start, asked(at: 20, 3), recovered]).gaps.map(\.missing) == ["DID_FAIL_TO_RENEW or GRACE_PERIOD_EXPIRED"])
    for (status, type, subtype) in [
      (3, "DID_FAIL_TO_RENEW", nil), (3, "GRACE_PERIOD_EXPIRED", nil), (4, "DID_FAIL_TO_RENEW", "GRACE_PERIOD"), (5, "REVOKE", nil),
      (5, "REFUND", nil),
    ] as [(Int64, String, String?)] {
      let announced = history([start, asked(at: 20, status), step(type, subtype, at: 21, expires: 30, purchase: 0)])
      #expect(!announced.gaps.contains { $0.rules.contains(.changedFact) }, "\(type)")
    }
  }

  @Test("Apple's status decides whether a subscription has ended after a reversed refund")
  func reversalAndStatus() {
    let refunded = [
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0), step("REFUND", at: 5, expires: 30, purchase: 0, revoked: 5),
    ]
    let back = step("SUBSCRIBED", "RESUBSCRIBE", at: 25, expires: 55, transaction: "t2", purchase: 25)
    func reversed(_ status: Int64) -> [LifecycleStep] {
      refunded + [step("REFUND_REVERSED", at: 20, expires: 30, purchase: 0, status: status), back]
    }
    #expect(history(reversed(2)).gaps.isEmpty)
    #expect(history(reversed(1)).gaps.map(\.rules) == [[.entryRequired]])
    #expect(history(reversed(3)).gaps.map(\.rules) == [[.entryRequired]])
  }

  @Test("a new period may switch renewal on and a refund may switch it off without a separate notification")
  func switchedByOtherSteps() {
    let cancelled = [
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0),
      step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 3, expires: 30),
    ]
    let upgraded = cancelled + [step("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: 5, expires: 35, transaction: "t2", purchase: 5)]
    func on(_ time: Int64) -> LifecycleStep {
      step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: time, expires: 35, transaction: "t2")
    }
    #expect(history(upgraded + [on(6)]).gaps.isEmpty)
    #expect(history(upgraded + [on(6), on(7)]).gaps.map(\.rules) == [[.entryRequired]])
    #expect(SubscriptionHistory(stored: history(upgraded).stored)?.state == history(upgraded).state)
    func off(_ renews: Bool) -> SubscriptionHistory {
      history([
        step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0),
        step("REFUND", at: 5, expires: 30, purchase: 0, revoked: 5, renewal: .init(autoRenew: renews)),
        step("REFUND_REVERSED", at: 6, expires: 30, purchase: 0), step("EXPIRED", "VOLUNTARY", at: 30, expires: 30, purchase: 0),
      ])
    }
    #expect(off(false).gaps.isEmpty)
    #expect(off(true).gaps.map(\.rules) == [[.entryRequired]])
  }

  @Test("a refund of an older period has no effect, one of the present period ends it, and its reversal restores it")
  func refunds() {
    let paid = [
      step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("DID_RENEW", at: 30, expires: 60, transaction: "t2", purchase: 30),
    ]
    #expect(history(paid + [step("REFUND", at: 35, expires: 30, transaction: "t1", revoked: 35)]).state?.status == .active)
    let refunded = paid + [step("REFUND", at: 35, expires: 60, transaction: "t2", revoked: 35)]
    #expect(history(refunded).state?.status == .revoked)
    let reversed = refunded + [step("REFUND_REVERSED", at: 40, expires: 60, transaction: "t2")]
    #expect(history(reversed).state?.status == .active)
    #expect(history(refunded + [step("REFUND_REVERSED", at: 70, expires: 60, transaction: "t2")]).state?.status == .expired)
  }

  @Test("a price increase counts for its own period, and a downgrade renews a cancelled subscription")
  func price() {
    let paid = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    let renewed = [
      paid, step("PRICE_INCREASE", "ACCEPTED", at: 10, expires: 30),
      step("DID_RENEW", at: 30, expires: 60, transaction: "t2", purchase: 30),
    ]
    let ended = history(renewed + [step("EXPIRED", "PRICE_INCREASE", at: 60, expires: 60, transaction: "t2")])
    #expect(ended.gaps.map(\.rules) == [[.entryRequired]])
    let cancelled = [paid, step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 3, expires: 30)]
    #expect(history(cancelled + [step("OFFER_REDEEMED", "DOWNGRADE", at: 4, expires: 30)]).state?.status == .active)
  }

  @Test("only a price increase that waited for consent can end a subscription")
  func consent() {
    let paid = step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)
    let ended = step("EXPIRED", "PRICE_INCREASE", at: 30, expires: 30)
    let accepted = history([paid, step("PRICE_INCREASE", "ACCEPTED", at: 10, expires: 30), ended])
    #expect(accepted.gaps.map(\.missing) == ["PRICE_INCREASE/PENDING"])
    #expect(history([paid, step("PRICE_INCREASE", "PENDING", at: 10, expires: 30), ended]).gaps.isEmpty)
  }

  @Test("if renewal is switched on twice, a notification in between is missing, also while Apple retries billing")
  func switchedOnTwice() {
    let on = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: 40, expires: 30)
    let off = step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 35, expires: 30)
    for subtype in [nil, "GRACE_PERIOD"] as [String?] {
      let failed = [step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("DID_FAIL_TO_RENEW", subtype, at: 30, expires: 30)]
      #expect(history(failed + [on]).gaps.map(\.rules) == [[.entryRequired]])
      #expect(history(failed + [off, on]).gaps.isEmpty)
    }
  }

  @Test("an overdue subscription is so since the end of its normal silence")
  func overdueSince() {
    let state = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)]).state
    #expect(state?.since(at: 31 * day) == 0)
    #expect(state?.since(at: 31 * day + 1) == 31 * day)
    #expect(state?.since(at: 400 * day, silence: 2 * day) == 32 * day)
    let ended = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("EXPIRED", at: 30, expires: 30)]).state
    #expect(ended?.since(at: 400 * day) == 30 * day)
  }

  @Test("silence after the expiry is reported a day later, and never for ended subscriptions")
  func silence() {
    let life = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)])
    #expect(life.silence(at: 31 * day) == nil)
    #expect(life.silence(at: 31 * day + 1)?.rules == [.silence])
    #expect(life.state?.status(at: 31 * day + 1) == .unknownOverdue)
    #expect(history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("REVOKE", at: 3)]).silence(at: 400 * day) == nil)
  }

  @Test("Apple's status takes precedence, and an observed status repairs the history")
  func observed() throws {
    #expect(history([step("DID_RENEW", at: 30, expires: 60, status: 3)]).state?.status == .billingRetry)
    #expect(history([step("UNKNOWN_TYPE", at: 1, status: 4)]).state?.status == .gracePeriod)
    let seen = try #require(
      LifecycleStep(
        observedStatus: 2,
        transactionInfo: ["transactionId": "t9", "expiresDate": .integer(90 * day), "signedDate": .integer(95 * day)],
        renewalInfo: ["autoRenewStatus": .integer(0), "signedDate": .integer(94 * day)]))
    #expect(seen.signedDate == 95 * day && seen.isObservation)
    var life = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30)])
    #expect(life.insert(seen) == .inOrder)
    #expect(life.state?.status == .expired && life.gaps.isEmpty)
    // The next step requires no step that was missed before the observation.
    #expect(life.insert(step("SUBSCRIBED", "RESUBSCRIBE", at: 99, expires: 120)) == .inOrder)
    #expect(life.gaps.isEmpty && life.state?.status == .active)
  }

  @Test("a long history stores its newer steps and the state after the older ones")
  func compaction() {
    var life = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
    _ = life.insert(step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 1))
    for number in 1...500 {
      let time = Int64(number)
      #expect(life.insert(step("DID_RENEW", at: time, expires: time + 1, transaction: "t\(number)", purchase: time)) == .inOrder)
    }
    #expect(life.steps.count <= SubscriptionHistory.maxSteps)
    #expect(life.steps.count + life.compactedSteps == 501)
    #expect(life.state?.status == .active && life.state?.transactionId == "t500" && life.gaps.isEmpty)
    #expect(life.insert(step("REVOKE", at: 2)) == .beforeHistory)
    #expect(SubscriptionHistory(stored: life.stored) == life)
  }

  @Test("damaged stored data is refused without a crash")
  func damage() {
    let whole = history([step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30), step("REFUND", at: 3, expires: 30)]).stored
    var generator = SeededRandom(seed: 7)
    for _ in 0..<3000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0x20...0x7E, using: &generator)
      }
      _ = SubscriptionHistory(stored: bytes)?.state
    }
    for text in ["", "{}", "[]", #"{"environment":"P","originalTransactionId":"1","steps":[{}]}"#] {
      #expect(SubscriptionHistory(stored: Array(text.utf8)) == nil)
    }
  }
}
