import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, expires: Int64, transaction: String = "t1", purchase: Int64 = 0,
  charged: JSONObject = [:], next: JSONObject = [:]
) throws -> LifecycleStep {
  var info: JSONObject = [
    "transactionId": .string(transaction), "productId": "pro", "purchaseDate": .integer(purchase * day),
    "expiresDate": .integer(expires * day), "price": 9990, "currency": "USD",
  ]
  for member in charged.members { info[member.key] = member.value }
  var renewal: JSONObject = ["autoRenewProductId": "pro", "autoRenewStatus": 1, "renewalPrice": 9990, "currency": "USD"]
  for member in next.members { renewal[member.key] = member.value.isNull ? nil : member.value }
  var notification: JSONObject = [
    "notificationType": .string(type), "notificationUUID": .string("\(type)-\(time)"), "signedDate": .integer(time * day),
  ]
  notification["subtype"] = subtype.map { .string($0) }
  return try #require(LifecycleStep(notification: notification, transactionInfo: info, renewalInfo: renewal))
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  // The stored history is equal to the original.
  #expect(SubscriptionHistory(stored: history.stored) == history)
  return history
}

@Suite("Unannounced prices") struct SubscriptionPriceTests {
  private func bought() throws -> LifecycleStep { try step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30) }
  private func renewed(_ charged: JSONObject, _ next: JSONObject = [:]) throws -> LifecycleStep {
    try step("DID_RENEW", at: 30, expires: 60, transaction: "t2", purchase: 30, charged: charged, next: next)
  }

  @Test("a renewal above the announced price shows a missed price increase, even by one thousandth")
  func renewal() throws {
    for price in [9991, 10_990] as [Int64] {
      let gaps = history([try bought(), try renewed(["price": .integer(price)])]).gaps
      #expect(gaps.map(\.rules) == [[.changedFact]])
      #expect(gaps.first?.missing == "PRICE_INCREASE")
    }
    #expect(history([try bought(), try renewed([:])]).gaps.isEmpty)
    #expect(history([try bought(), try renewed(["price": 8990])]).gaps.isEmpty, "a lower price is not announced")
  }

  @Test(
    "a higher price of the next period in another notification shows it too",
    arguments: [
      "REFUND_DECLINED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "DID_FAIL_TO_RENEW",
    ])
  func beside(_ type: String) throws {
    let gaps = history([try bought(), try step(type, at: 10, expires: 30, next: ["renewalPrice": 10_990])]).gaps
    #expect(gaps.map(\.rules) == [[.changedFact]] && gaps.first?.missing == "PRICE_INCREASE")
    // The gap is reported once, because later steps are compared with this one.
    let after = try step("REFUND_DECLINED", at: 11, expires: 30, next: ["renewalPrice": 10_990])
    #expect(history([try bought(), try step(type, at: 10, expires: 30, next: ["renewalPrice": 10_990]), after]).gaps.count == 1)
  }

  @Test("a renewal at the old price with a higher price for the next period shows it once")
  func ahead() throws {
    let first = try renewed([:], ["renewalPrice": 10_990])
    let second = try step(
      "DID_RENEW", at: 60, expires: 90, transaction: "t3", purchase: 60, charged: ["price": 10_990], next: ["renewalPrice": 10_990])
    #expect(history([try bought(), first, second]).gaps.map(\.shownBy) == ["did_renew-30"])
    let notice = try step("PRICE_INCREASE", "ACCEPTED", at: 20, expires: 30)
    #expect(history([try bought(), notice, first, second]).gaps.isEmpty)
    // After an offer, the usual price is no increase.
    let offer = try step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, next: ["renewalPrice": 990, "offerType": 1])
    #expect(history([offer, try renewed(["price": 990, "offerType": 1], [:])]).gaps.isEmpty)
  }

  @Test("an announced increase is no gap, even if it arrives late, and applies until it is charged")
  func announced() throws {
    let notice = try step("PRICE_INCREASE", "ACCEPTED", at: 20, expires: 30)
    var life = history([try bought(), try renewed(["price": 10_990], ["renewalPrice": 10_990])])
    #expect(life.gaps.count == 1)
    #expect(life.insert(notice) == .late)
    #expect(life.gaps.isEmpty)
    // It is charged one period later.
    let second = try step(
      "DID_RENEW", at: 60, expires: 90, transaction: "t3", purchase: 60, charged: ["price": 10_990], next: ["renewalPrice": 10_990])
    #expect(history([try bought(), notice, try renewed([:]), second]).gaps.isEmpty)
    // After it is charged, it explains no further increase.
    let third = try step("DID_RENEW", at: 90, expires: 120, transaction: "t4", purchase: 90, charged: ["price": 11_990])
    #expect(history([try bought(), notice, try renewed([:]), second, third]).gaps.map(\.shownBy) == ["did_renew-90"])
  }

  @Test("another product, currency, offer or plan, several seats and the seller's own prices are not compared")
  func incomparable() throws {
    let others: [JSONObject] = [
      ["productId": "plus"], ["currency": "EUR"], ["offerType": 2, "offerIdentifier": "autumn"], ["billingPlanType": "MONTHLY"],
      ["quantity": 3], ["advancedCommerceInfo": [:]],
    ]
    for other in others {
      var charged = other
      charged["price"] = 99_990
      #expect(history([try bought(), try renewed(charged)]).gaps.isEmpty, "\(other)")
    }
    // The offer ends as announced.
    let offered = try step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, charged: ["price": 0, "offerType": 1])
    #expect(history([offered, try renewed([:])]).gaps.isEmpty)
  }

  @Test("an unknown price and the price of a failed charge are no gap")
  func unknown() throws {
    let silent = try step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, next: ["renewalPrice": .null])
    #expect(history([silent, try renewed(["price": 10_990])]).gaps.isEmpty)
    let failed = try step("DID_FAIL_TO_RENEW", at: 30, expires: 30)
    let recovered = try step(
      "DID_RENEW", "BILLING_RECOVERY", at: 50, expires: 80, transaction: "t2", purchase: 50, charged: ["price": 10_990])
    #expect(history([try bought(), failed, recovered]).gaps.isEmpty)
  }
}
