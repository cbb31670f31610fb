import Testing

@testable import AppStore

@Suite("Filters of a notification history")
struct NotificationFilterRuleTests {
  private func request(_ type: String?, _ subtype: String?) throws(RequestRefusal) -> NotificationHistoryRequest {
    try NotificationHistoryRequest(window: TimeWindow(start: 1, end: 2), notificationType: type, notificationSubtype: subtype)
  }

  @Test(
    "existing pairs of type and subtype are accepted",
    arguments: [
      ("DID_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY"), ("SUBSCRIBED", "INITIAL_BUY"), ("EXPIRED", nil),
      ("EXPIRED", "PRODUCT_NOT_FOR_SALE"), ("OFFER_REDEEMED", "RESUBSCRIBE"), ("RENEWAL_EXTENSION", "SUMMARY"), ("TEST", nil),
      ("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), (nil, nil),
      // Newer than this version, or without subtypes in Apple's documentation.
      ("SOMETHING_NEW", "WITH_A_SUBTYPE"), ("SOMETHING_NEW", nil), ("MIGRATION", "ANY"), ("PRICE_CHANGE", nil),
    ] as [(String?, String?)])
  func exist(type: String?, subtype: String?) throws {
    let found = try request(type, subtype)
    #expect(found.notificationType == type && found.notificationSubtype == subtype)
  }

  @Test(
    "pairs that do not exist are refused, and the subtype is named",
    arguments: [
      ("DID_RENEW", "VOLUNTARY"), ("DID_RENEW", "billing_recovery"), ("REFUND", "INITIAL_BUY"), ("SUBSCRIBED", nil),
      ("SUBSCRIBED", "UPGRADE"), ("PRICE_INCREASE", nil), ("RENEWAL_EXTENSION", nil), ("EXTERNAL_PURCHASE_TOKEN", nil),
      ("GRACE_PERIOD_EXPIRED", "GRACE_PERIOD"), ("TEST", "TEST"),
    ] as [(String, String?)])
  func doNotExist(type: String, subtype: String?) {
    let refusal = #expect(throws: RequestRefusal.self) { try request(type, subtype) }
    #expect(refusal?.field == "notificationSubtype")
  }
}
