import Testing

@testable import AppStore

private let day: Int64 = 86_400_000

private func state(_ steps: (type: String, subtype: String?, renewal: LifecycleStep.Renewal)...) throws -> SubscriptionState {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for (place, step) in steps.enumerated() {
    _ = history.insert(
      LifecycleStep(
        notificationUUID: "u\(place)", type: step.type, subtype: step.subtype, signedDate: Int64(place) * day,
        transaction: .init(transactionId: "t1", productId: "pro", purchaseDate: 0, expiresDate: 30 * day), renewal: step.renewal))
  }
  return try #require(history.state)
}

@Suite("What a subscription is renewed to") struct SubscriptionRenewalTests {
  @Test(
    "a cancellation while a charge is retried leaves the status and switches renewal off",
    arguments: [(nil, .billingRetry), ("GRACE_PERIOD", .gracePeriod)] as [(String?, SubscriptionStatus)])
  func cancelledInRetry(_ subtype: String?, _ status: SubscriptionStatus) throws {
    let renews = LifecycleStep.Renewal(autoRenew: true, gracePeriodExpiresDate: 46 * day)
    let cancelled = try state(
      ("SUBSCRIBED", "INITIAL_BUY", renews), ("DID_FAIL_TO_RENEW", subtype, renews),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .init(autoRenew: false)))
    #expect(cancelled.status == status && cancelled.autoRenew == false)
    let resumed = try state(
      ("SUBSCRIBED", "INITIAL_BUY", renews), ("DID_FAIL_TO_RENEW", subtype, renews),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .init(autoRenew: false)),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", renews))
    #expect(resumed.status == status && resumed.autoRenew == true)
  }

  @Test("a downgrade changes the product of the next period, and its cancellation restores it")
  func downgrade() throws {
    func product(_ id: String) -> LifecycleStep.Renewal { .init(autoRenew: true, autoRenewProductId: id) }
    let bought = try state(("SUBSCRIBED", "INITIAL_BUY", product("pro")))
    #expect(bought.autoRenewProductId == "pro")
    let downgraded = try state(
      ("SUBSCRIBED", "INITIAL_BUY", product("pro")), ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", product("lite")))
    #expect(downgraded.status == .active && downgraded.productId == "pro" && downgraded.autoRenewProductId == "lite")
    let kept = try state(
      ("SUBSCRIBED", "INITIAL_BUY", product("pro")), ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", product("lite")),
      ("DID_CHANGE_RENEWAL_PREF", nil, product("pro")))
    #expect(kept.status == .active && kept.autoRenewProductId == "pro")
  }
}
