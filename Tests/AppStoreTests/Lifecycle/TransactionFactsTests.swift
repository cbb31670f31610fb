import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

/// A step whose transaction was signed at `inner`, in days; nil for a step that was stored without that time.
private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, inner: Int64?, expires: Int64 = 30, revoked: Int64? = nil,
  status: Int64? = nil, uuid: String? = nil
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: uuid ?? "\(type)-\(time)", type: type, subtype: subtype, signedDate: time * day,
    innerSignedDate: inner.map { $0 * day }, appleStatus: status,
    transaction: .init(
      transactionId: "t1", productId: "pro", purchaseDate: 0, expiresDate: expires * day, revocationDate: revoked.map { $0 * day },
      signedDate: inner.map { $0 * day }), renewal: nil)
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  return history
}

/// Of one transaction, the facts that Apple signed last count.
@Suite("Facts of a transaction") struct TransactionFactsTests {
  private static let start = step("SUBSCRIBED", "INITIAL_BUY", at: 0, inner: 0)

  @Test("a notification with older facts does not replace newer ones, and shows no gap")
  func olderFacts() {
    let extended = step("RENEWAL_EXTENDED", at: 10, inner: 10, expires: 45)
    for type in ["CONSUMPTION_REQUEST", "REFUND_DECLINED", "A_NEW_TYPE"] {
      #expect(history([Self.start, extended, step(type, at: 12, inner: 9)]).state?.expiresDate == 45 * day, "\(type)")
      #expect(history([Self.start, extended, step(type, at: 12, inner: 11)]).state?.expiresDate == 30 * day, "\(type)")
      // Signed at the same time: the later step counts.
      #expect(history([Self.start, extended, step(type, at: 12, inner: 10)]).state?.expiresDate == 30 * day, "\(type)")
      #expect(history([Self.start, extended, step(type, at: 12, inner: 9)]).gaps.isEmpty)
      // The older facts end later than the newer ones, which is no missing renewal.
      let shorter = step("RENEWAL_EXTENDED", at: 10, inner: 10)
      #expect(history([Self.start, shorter, step(type, at: 12, inner: 9, expires: 60)]).gaps.isEmpty, "\(type)")
    }
  }

  @Test("a revocation remains although a later notification has the facts from before it, unless its status says otherwise")
  func revocation() {
    let refunded = [Self.start, step("REFUND", at: 5, inner: 5, revoked: 5)]
    let active = history(refunded + [step("CONSUMPTION_REQUEST", at: 6, inner: 4, status: 1)])
    #expect(active.state?.status == .active && active.gaps.map(\.rules) == [[.changedFact]])
    for status in [nil, 2, 5] as [Int64?] {
      let life = history(refunded + [step("CONSUMPTION_REQUEST", at: 6, inner: 4, status: status)])
      #expect(life.state?.status == .revoked && life.state?.revocationDate == 5 * day)
    }
    // The facts from before a reversal do not revoke again.
    let reversed = refunded + [step("REFUND_REVERSED", at: 7, inner: 7)]
    #expect(history(reversed + [step("CONSUMPTION_REQUEST", at: 8, inner: 6, revoked: 5)]).state?.status == .active)
    #expect(history(reversed + [step("CONSUMPTION_REQUEST", at: 8, inner: 8, revoked: 8)]).state?.status == .revoked)
  }

  @Test("the facts of another period are not compared with those of the newest one")
  func otherPeriod() {
    let renewed = LifecycleStep(
      notificationUUID: "renewed", type: "DID_RENEW", subtype: nil, signedDate: 30 * day, innerSignedDate: 1,
      transaction: .init(transactionId: "t2", purchaseDate: 30 * day, expiresDate: 60 * day, signedDate: 1), renewal: nil)
    let extended = step("RENEWAL_EXTENDED", at: 10, inner: 10, expires: 30)
    #expect(history([Self.start, extended, renewed]).state?.transactionId == "t2")
    #expect(history([Self.start, extended, renewed]).state?.expiresDate == 60 * day)
  }

  @Test("facts without a time, which an earlier version stored, count in the order of the steps")
  func unknownTime() throws {
    let extended = step("RENEWAL_EXTENDED", at: 10, inner: 10, expires: 45)
    let stored = step("CONSUMPTION_REQUEST", at: 12, inner: nil)
    #expect(history([Self.start, extended, stored]).state?.expiresDate == 30 * day)
    #expect(history([Self.start, stored, step("REFUND_DECLINED", at: 13, inner: 1, expires: 45)]).state?.expiresDate == 45 * day)
    // The stored form of the version before has no such member, and that version ignores it.
    let text = """
      {"environment":"Production","originalTransactionId":"1","steps":[{"uuid":"u","type":"SUBSCRIBED","subtype":"INITIAL_BUY",\
      "signedDate":5,"innerSignedDate":4,"transaction":{"transactionId":"t1","expiresDate":9}}],"late":[],"settled":[],"compacted":0}
      """
    let old = try #require(SubscriptionHistory(stored: Array(text.utf8)))
    #expect(old.steps[0].transaction?.signedDate == nil && old.state?.expiresDate == 9)
    #expect(SubscriptionHistory(stored: history([Self.start, extended]).stored) == history([Self.start, extended]))
  }

  @Test("the facts that were signed last count, in any order of arrival")
  func anyOrder() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    for _ in 0..<300 {
      let steps =
        [Self.start]
        + (1...Int.random(in: 1...10, using: &generator)).map { index in
          step(
            ["CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "REFUND_DECLINED"].randomElement(using: &generator)!,
            at: Int64.random(in: 1...8, using: &generator), inner: Int64.random(in: 1...8, using: &generator), expires: Int64(30 + index),
            uuid: "u\(index)")
        }
      let first = history(steps)
      let second = history((steps + steps).shuffled(using: &generator))
      #expect(first.state == second.state && first.gaps == second.gaps, "seed \(seed)")
      // In Apple's order the last one with the newest time.
      var newest: LifecycleStep.Transaction?
      for facts in first.steps.compactMap(\.transaction) where (facts.signedDate ?? 0) >= (newest?.signedDate ?? 0) { newest = facts }
      #expect(first.state?.expiresDate == newest?.expiresDate, "seed \(seed)")
      #expect(SubscriptionHistory(stored: second.stored) == second, "seed \(seed)")
    }
  }

  @Test("steps with equal outer times are ordered by the inner time, then by UUID")
  func ties() {
    let steps = [
      step("CONSUMPTION_REQUEST", at: 5, inner: 4, uuid: "b"), step("REFUND_DECLINED", at: 5, inner: 3, uuid: "c"),
      step("RENEWAL_EXTENDED", at: 5, inner: 4, uuid: "a"),
    ]
    #expect(history(steps).steps.map(\.notificationUUID) == ["c", "a", "b"])
    #expect(history(steps.reversed()).steps.map(\.notificationUUID) == ["c", "a", "b"])
  }

  @Test("the times of signing are read from the signed data")
  func parsed() throws {
    let step = try #require(
      LifecycleStep(
        notification: ["notificationUUID": "U", "notificationType": "DID_RENEW", "signedDate": 9],
        transactionInfo: ["transactionId": "t1", "signedDate": 7, "revocationType": "REFUND_FULL"], renewalInfo: ["signedDate": 8]))
    #expect(step.transaction?.signedDate == 7 && step.innerSignedDate == 8)
    #expect(step.transaction?.revocationType == "REFUND_FULL")
    #expect(LifecycleStep(json: step.json) == step)
  }
}
