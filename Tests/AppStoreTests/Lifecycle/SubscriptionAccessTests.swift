import Testing

@testable import AppStore

private let day: Int64 = 86_400_000

private func state(_ steps: (type: String, subtype: String?, at: Int64, grace: Int64?)...) throws -> SubscriptionState {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps {
    _ = history.insert(
      LifecycleStep(
        notificationUUID: "\(step.type)-\(step.at)", type: step.type, subtype: step.subtype, signedDate: step.at * day,
        transaction: .init(transactionId: "t1", purchaseDate: 0, expiresDate: 30 * day),
        renewal: .init(gracePeriodExpiresDate: step.grace.map { $0 * day })))
  }
  return try #require(history.state)
}

@Suite("Access to a subscription over time") struct SubscriptionAccessTests {
  @Test("access without renewal ends at the expiry, and is not open again when silence makes the state unknown")
  func withoutRenewal() throws {
    let cancelled = try state(
      ("SUBSCRIBED", "INITIAL_BUY", 0, nil), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", 10, nil))
    #expect(cancelled.status == .activeNotRenewing)
    #expect(cancelled.hasAccess(at: 30 * day - 1) == true)
    #expect(cancelled.hasAccess(at: 30 * day) == false)
    #expect(cancelled.status(at: 32 * day) == .unknownOverdue && cancelled.hasAccess(at: 32 * day) == false)
  }

  @Test("access in a grace period ends with it")
  func grace() throws {
    let failed = try state(("SUBSCRIBED", "INITIAL_BUY", 0, nil), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", 30, 46))
    #expect(failed.hasAccess(at: 46 * day - 1) == true)
    #expect(failed.hasAccess(at: 46 * day) == false)
    #expect(failed.hasAccess(at: 400 * day) == false)
    // Without the date of its end, the app's owner decides when nothing is heard.
    let unknown = try state(("SUBSCRIBED", "INITIAL_BUY", 0, nil), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", 30, nil))
    #expect(unknown.hasAccess(at: 30 * day + 1) == true)
    #expect(unknown.hasAccess(at: 32 * day) == nil)
  }

  @Test("a renewal may be announced late, so the owner of the app decides after the time of silence")
  func renewing() throws {
    let active = try state(("SUBSCRIBED", "INITIAL_BUY", 0, nil))
    #expect(active.hasAccess(at: 31 * day) == true)
    #expect(active.hasAccess(at: 31 * day + 1) == nil)
    #expect(active.hasAccess(at: 33 * day, silence: 5 * day) == true)
    let ended = try state(("SUBSCRIBED", "INITIAL_BUY", 0, nil), ("EXPIRED", nil, 30, nil))
    #expect(ended.hasAccess(at: 0) == false && ended.hasAccess(at: 400 * day) == false)
  }
}
