import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

/// A step whose transaction was signed at `inner`, by default with the notification. Times are days.
private func step(
  _ type: String, at time: Int64, inner: Int64? = nil, revoked: Int64? = nil, as revocation: String? = nil, uuid: String? = nil,
  transaction: String = "p1", purchase: Int64? = nil
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: uuid ?? "\(type)-\(time)", type: type, subtype: nil, signedDate: time * day,
    innerSignedDate: (inner ?? time) * day,
    transaction: .init(
      transactionId: transaction, productId: "coins", purchaseDate: purchase.map { $0 * day } ?? 1,
      revocationDate: revoked.map { $0 * day }, revocationType: revocation),
    renewal: nil)
}

private func observed(at time: Int64, revoked: Int64? = nil, id: String = "p1") throws -> LifecycleStep {
  var transaction: JSONObject = [
    "transactionId": .string(id), "type": "Consumable", "purchaseDate": 1, "signedDate": .integer(time * day),
  ]
  transaction["revocationDate"] = revoked.map { .integer($0 * day) }
  return try #require(OneTimePurchaseHistory.step(observed: transaction))
}

private func history(_ steps: [LifecycleStep]) -> OneTimePurchaseHistory {
  var history = OneTimePurchaseHistory()
  for step in steps { _ = history.insert(step) }
  return history
}

@Suite("One-time purchases") struct OneTimePurchaseTests {
  private static let charge = step("ONE_TIME_CHARGE", at: 0)
  private static let refund = step("REFUND", at: 5, revoked: 5, as: "REFUND_FULL")
  private static let reversal = step("REFUND_REVERSED", at: 7)

  @Test("the state after each type")
  func states() {
    #expect(history([Self.charge]).state?.status == .purchased)
    #expect(history([Self.charge]).state?.since == 1, "the time of the purchase")
    let asked = [Self.charge, step("CONSUMPTION_REQUEST", at: 2), step("REFUND_DECLINED", at: 3)]
    #expect(history(asked).statuses == [.purchased, .purchased, .purchased])
    let refunded = history([Self.charge, step("CONSUMPTION_REQUEST", at: 2), Self.refund])
    #expect(refunded.statuses == [.purchased, .purchased, .refunded])
    #expect(refunded.state?.since == 5 * day && refunded.state?.hasAccess == false)
    let reversed = history([Self.charge, Self.refund, Self.reversal])
    #expect(reversed.state?.status == .purchased && reversed.state?.hasAccess == true && reversed.state?.since == 7 * day)
    #expect(reversed.state?.facts.revocationDate == nil)
    let revoked = history([Self.charge, step("REVOKE", at: 5, revoked: 5, as: "FAMILY_REVOKE")])
    #expect(revoked.state?.status == .revoked && revoked.state?.hasAccess == false)
    let prorated = history([step("REFUND", at: 5, revoked: 5, as: "REFUND_PRORATED")])
    #expect(prorated.state?.status == .refunded && prorated.state?.hasAccess == nil)
  }

  @Test("a history that begins in the middle shows the state by its facts")
  func middle() {
    #expect(history([step("CONSUMPTION_REQUEST", at: 6)]).state?.status == .purchased)
    #expect(history([step("CONSUMPTION_REQUEST", at: 6, revoked: 5)]).state?.status == .refunded)
    #expect(history([step("A_NEW_TYPE", at: 6, revoked: 5, as: "FAMILY_REVOKE")]).state?.status == .revoked)
    #expect(history([step("A_NEW_TYPE", at: 6, revoked: 5, as: "ASSIGNMENT_REVOKE")]).state?.since == 5 * day)
    // The same revocation as the known one: its kind is known from REVOKE, though the facts do not name it.
    #expect(history([step("REVOKE", at: 5, revoked: 5), step("A_NEW_TYPE", at: 6, revoked: 5)]).state?.status == .revoked)
  }

  @Test("a revocation that is looked up with another date and no type is the known one")
  func knownRevocation() throws {
    let revoked = [Self.charge, step("REVOKE", at: 5, revoked: 5, as: "FAMILY_REVOKE")]
    var life = history(revoked)
    #expect(life.insert(try observed(at: 9, revoked: 8)) == .inOrder)
    #expect(life.state?.status == .revoked && life.state?.since == 5 * day && life.state?.hasAccess == false)
    #expect(life.state?.facts.revocationDate == 8 * day && life.state?.facts.revocationType == "FAMILY_REVOKE")
    #expect(life.statuses == [.purchased, .revoked, .revoked])
    let prorated = history([step("REFUND", at: 5, revoked: 5, as: "REFUND_PRORATED"), try observed(at: 9, revoked: 8)])
    #expect(prorated.state?.status == .refunded && prorated.state?.hasAccess == nil && prorated.state?.since == 5 * day)
    // A type that names another kind counts, and so does a revocation after a reversal.
    #expect(history(revoked + [step("A_NEW_TYPE", at: 9, revoked: 8, as: "REFUND_FULL")]).state?.status == .refunded)
    let again = history([Self.charge, Self.refund, Self.reversal, try observed(at: 9, revoked: 8)])
    #expect(again.state?.status == .refunded && again.state?.since == 8 * day)
  }

  @Test("transactions of one non-consumable are one purchase: the refund of a restored one is that of all, in any order")
  func restored() throws {
    func info(_ type: String, _ id: String, original: String?) -> JSONObject {
      var object: JSONObject = ["type": .string(type), "transactionId": .string(id)]
      object["originalTransactionId"] = original.map { .string($0) }
      return object
    }
    #expect(OneTimePurchaseHistory.purchaseId(info("Non-Consumable", "p2", original: "p1")) == "p1")
    #expect(OneTimePurchaseHistory.purchaseId(info("Non-Consumable", "p2", original: nil)) == nil, "what is stored tells it")
    #expect(OneTimePurchaseHistory.purchaseId(["transactionId": "p2", "originalTransactionId": "p1"]) == nil)
    for type in ["Consumable", "Non-Renewing Subscription"] {
      #expect(OneTimePurchaseHistory.purchaseId(info(type, "p2", original: "p1")) == "p2")
      #expect(OneTimePurchaseHistory.purchaseId(info(type, "p2", original: nil)) == "p2")
    }
    let refund = step("REFUND", at: 5, revoked: 5, as: "REFUND_FULL", transaction: "p2")
    for steps in [[Self.charge, refund], [refund, Self.charge]] {
      #expect(history(steps).state?.status == .refunded && history(steps).state?.hasAccess == false)
    }
    let refunded = [Self.charge, refund]
    // The facts of the first transaction do not undo the refund of the second, whether they are older or newer than it.
    #expect(history(refunded + [step("CONSUMPTION_REQUEST", at: 6)]).state?.status == .refunded)
    #expect(history(refunded + [try observed(at: 9)]).state?.status == .refunded)
    #expect(history(refunded + [try observed(at: 9), try observed(at: 10, revoked: 5, id: "p2")]).state?.since == 5 * day)
    // Facts of the first one that Apple signed after the notification's facts of the second do not hide the refund.
    let asked = step("CONSUMPTION_REQUEST", at: 4)
    #expect(history([asked, step("REFUND", at: 5, inner: 3, revoked: 3, transaction: "p2")]).state?.status == .refunded)
    // Either id reverses it, and a new purchase after it counts.
    #expect(history(refunded + [Self.reversal]).state?.status == .purchased)
    #expect(history(refunded + [step("REFUND_REVERSED", at: 7, transaction: "p2")]).state?.status == .purchased)
    #expect(history(refunded + [step("ONE_TIME_CHARGE", at: 7, transaction: "p3", purchase: 7)]).state?.status == .purchased)
    #expect(history(refunded + [step("ONE_TIME_CHARGE", at: 7, transaction: "p3", purchase: 4)]).state?.status == .purchased)
    #expect(history(refunded + [step("CONSUMPTION_REQUEST", at: 7, transaction: "p3", purchase: 6)]).state?.status == .purchased)
    #expect(history(refunded + [step("CONSUMPTION_REQUEST", at: 7, transaction: "p3", purchase: 4)]).state?.status == .refunded)
  }

  @Test("after a refund and a new purchase, a step about the refunded transaction does not end the new one")
  func boughtAgain() throws {
    let again = [Self.charge, Self.refund, step("ONE_TIME_CHARGE", at: 7, transaction: "p3", purchase: 7)]
    let old = [
      step("REFUND_DECLINED", at: 9, revoked: 5, as: "REFUND_FULL"), step("CONSUMPTION_REQUEST", at: 9, revoked: 5),
      step("A_NEW_TYPE", at: 9, revoked: 7, as: "FAMILY_REVOKE"), try observed(at: 9, revoked: 5),
    ]
    for step in old {
      let state = try #require(history(again + [step]).state)
      #expect(state.status == .purchased && state.since == 7 * day && state.facts.transactionId == "p3", "\(step.type)")
    }
    // A revocation after the purchase counts, and so does one of the new transaction.
    #expect(history(again + [step("CONSUMPTION_REQUEST", at: 9, revoked: 8)]).state?.status == .refunded)
    #expect(history(again + [step("A_NEW_TYPE", at: 9, revoked: 7, transaction: "p3", purchase: 7)]).state?.status == .refunded)
    #expect(history(again + [old[0], step("REFUND", at: 10, revoked: 10, transaction: "p3", purchase: 7)]).state?.status == .refunded)
  }

  @Test("a late notification is flagged, and older facts change nothing")
  func late() {
    var life = history([Self.refund])
    #expect(life.insert(Self.charge) == .late)
    #expect(life.insert(Self.charge) == .duplicate(late: true))
    #expect(life.insert(Self.refund) == .duplicate(late: false))
    #expect(life.state?.status == .refunded && life.lateSteps == [Self.charge.notificationUUID])
    // Signed later than the refund, with facts from before it.
    #expect(life.insert(step("CONSUMPTION_REQUEST", at: 6, inner: 4)) == .inOrder)
    #expect(life.state?.status == .refunded)
    #expect(SubscriptionHistory.Arrival.beforeHistory.isLate && !SubscriptionHistory.Arrival.duplicate(late: false).isLate)
  }

  @Test("arrival order and repeats change nothing but the flags of late steps")
  func permutations() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    let types = ["ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", "REVOKE", "A_NEW_TYPE"]
    for _ in 0..<300 {
      var steps = (0..<Int.random(in: 1...10, using: &generator)).map { index in
        // Some times are equal.
        step(
          types.randomElement(using: &generator)!, at: Int64.random(in: 0...6, using: &generator),
          inner: Int64.random(in: 0...6, using: &generator),
          revoked: Bool.random(using: &generator) ? Int64.random(in: 0...3, using: &generator) : nil, uuid: "u\(index)",
          transaction: Bool.random(using: &generator) ? "p1" : "p2")
      }
      if Bool.random(using: &generator) {
        for time in 1...3 as ClosedRange<Int64> { try steps.append(observed(at: time, revoked: time, id: time == 2 ? "p2" : "p1")) }
      }
      let first = history(steps)
      let second = history((steps + steps).shuffled(using: &generator))
      #expect(first.steps == second.steps && first.state == second.state, "seed \(seed)")
      #expect(OneTimePurchaseHistory(stored: second.stored) == second, "seed \(seed)")
    }
  }

  @Test("an observation updates a history, replaces the previous one, and begins a history only if it shows a revocation")
  func observations() throws {
    let early = try observed(at: 3)
    var life = OneTimePurchaseHistory()
    #expect(life.insert(early) == .beforeHistory)
    #expect(life.steps.isEmpty && life.state == nil)
    #expect(OneTimePurchaseHistory.state(after: [early])?.status == .purchased)
    let refunded = try observed(at: 6, revoked: 5)
    #expect(life.insert(refunded) == .inOrder)
    #expect(life.state?.status == .refunded)
    #expect(life.insert(Self.charge) == .late)
    let newest = try observed(at: 9)
    #expect(life.insert(newest) == .inOrder)
    let older = try observed(at: 8, revoked: 5)
    #expect(life.insert(older) == .beforeHistory)
    #expect(life.steps.map(\.type) == ["ONE_TIME_CHARGE", "TRANSACTION_OBSERVED"])
    #expect(life.state?.status == .purchased)
  }

  @Test(
    "steps of one-time purchases only, by the type of the product; a missing type may be that of one",
    arguments: [
      ("Consumable", true), ("Non-Consumable", true), ("Non-Renewing Subscription", true), ("Auto-Renewable Subscription", false),
      ("A New Type", false), (nil, true),
    ] as [(String?, Bool)])
  func products(type: String?, isOneTime: Bool) {
    var transaction: JSONObject = ["transactionId": "p1", "signedDate": 5]
    transaction["type"] = type.map { .string($0) }
    let notification: JSONObject = ["notificationUUID": "U", "notificationType": "REFUND", "signedDate": 6]
    #expect((OneTimePurchaseHistory.step(notification: notification, transactionInfo: transaction) != nil) == isOneTime)
    #expect((OneTimePurchaseHistory.step(observed: transaction) != nil) == isOneTime)
    #expect(OneTimePurchaseHistory.namesType(transaction) == (type != nil))
    #expect(OneTimePurchaseHistory.step(notification: notification, transactionInfo: nil) == nil)
  }

  @Test("a history is bounded in size and time")
  func bounds() throws {
    let many = (0..<50).map { step("CONSUMPTION_REQUEST", at: Int64($0)) }
    let life = history(many)
    #expect(life.steps.count == OneTimePurchaseHistory.maxSteps)
    #expect(life.steps == history(many.reversed()).steps)
    #expect(life.lateSteps.isEmpty)
    #expect(history([Self.charge]).lifetimeDays(environment: "Production") == 30)
    #expect(history([Self.charge, Self.refund]).lifetimeDays(environment: "Production") == 200)
    #expect(history([Self.refund]).lifetimeDays(environment: "Sandbox") == 40)
    // A million purchases a month need some 400 MB with the overhead of Redis.
    let transaction: JSONObject = [
      "transactionId": "200000123456789", "type": "Consumable", "productId": "com.example.app.coins", "purchaseDate": 1_760_000_000_000,
      "signedDate": 1_760_000_000_000, "storefront": "USA", "price": 990, "currency": "USD", "originalPurchaseDate": 1_760_000_000_000,
    ]
    let made = try #require(
      OneTimePurchaseHistory.step(
        notification: [
          "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20", "notificationType": "ONE_TIME_CHARGE",
          "signedDate": 1_760_000_000_000,
        ], transactionInfo: transaction))
    #expect(history([made]).stored.count < 300)
  }

  @Test("damaged stored data is refused without a crash")
  func damage() {
    let whole = history([Self.charge, Self.refund]).stored
    var generator = SeededRandom(seed: 7)
    for _ in 0..<1000 {
      var bytes = whole
      bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0x20...0x7E, using: &generator)
      _ = OneTimePurchaseHistory(stored: bytes)?.state
    }
    for text in ["", "{}", "[]", #"{"steps":[{}]}"#] { #expect(OneTimePurchaseHistory(stored: Array(text.utf8)) == nil) }
  }
}
