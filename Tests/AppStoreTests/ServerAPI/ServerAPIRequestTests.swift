import Testing
import WireJSON

@testable import AppStore

@Suite("Requests to the App Store Server API")
struct ServerAPIRequestTests {
  @Test(
    "paths are those of Apple's documentation",
    arguments: [
      (AppStoreServerEndpoint.getTransactionInfo, ["12"], "GET", "/inApps/v1/transactions/12"),
      (.getTransactionHistory, ["12"], "GET", "/inApps/v2/history/12"),
      (.getAppTransactionInfo, ["12"], "GET", "/inApps/v1/transactions/appTransactions/12"),
      (.getAllSubscriptionStatuses, ["12"], "GET", "/inApps/v1/subscriptions/12"),
      (.setAppAccountToken, ["12"], "PUT", "/inApps/v1/transactions/12/appAccountToken"),
      (.sendConsumptionInformation, ["12"], "PUT", "/inApps/v2/transactions/consumption/12"),
      (.sendConsumptionInformationV1, ["12"], "PUT", "/inApps/v1/transactions/consumption/12"),
      (.lookUpOrderID, ["MX"], "GET", "/inApps/v1/lookup/MX"),
      (.getRefundHistory, ["12"], "GET", "/inApps/v2/refund/lookup/12"),
      (.extendRenewalDate, ["12"], "PUT", "/inApps/v1/subscriptions/extend/12"),
      (.extendRenewalDatesForAll, [], "POST", "/inApps/v1/subscriptions/extend/mass"),
      (.getRenewalDateExtensionStatus, ["p", "r"], "GET", "/inApps/v1/subscriptions/extend/mass/p/r"),
      (.getNotificationHistory, [], "POST", "/inApps/v1/notifications/history"),
      (.requestTestNotification, [], "POST", "/inApps/v1/notifications/test"),
      (.getTestNotificationStatus, ["t"], "GET", "/inApps/v1/notifications/test/t"),
      (.finishTransaction, ["12"], "POST", "/inApps/v1/transactions/12/finish"),
      (.uploadRetentionImage, ["u"], "PUT", "/inApps/v1/messaging/image/u"),
      (.deleteRetentionImage, ["u"], "DELETE", "/inApps/v1/messaging/image/u"),
      (.listRetentionImages, [], "GET", "/inApps/v1/messaging/image/list"),
      (.uploadRetentionMessage, ["u"], "PUT", "/inApps/v1/messaging/message/u"),
      (.deleteRetentionMessage, ["u"], "DELETE", "/inApps/v1/messaging/message/u"),
      (.listRetentionMessages, [], "GET", "/inApps/v1/messaging/message/list"),
      (.setDefaultRetentionMessage, ["p", "en-US"], "PUT", "/inApps/v1/messaging/default/p/en-US"),
      (.getDefaultRetentionMessage, ["p", "en-US"], "GET", "/inApps/v1/messaging/default/p/en-US"),
      (.deleteDefaultRetentionMessage, ["p", "en-US"], "DELETE", "/inApps/v1/messaging/default/p/en-US"),
      (.setRetentionURL, [], "PUT", "/inApps/v1/messaging/realtime/url"),
      (.getRetentionURL, [], "GET", "/inApps/v1/messaging/realtime/url"),
      (.deleteRetentionURL, [], "DELETE", "/inApps/v1/messaging/realtime/url"),
      (.startRetentionPerformanceTest, [], "POST", "/inApps/v1/messaging/performanceTest"),
      (.getRetentionPerformanceTest, ["r"], "GET", "/inApps/v1/messaging/performanceTest/result/r"),
      (.changeSubscriptionMetadata, ["12"], "POST", "/advancedCommerce/v1/subscription/changeMetadata/12"),
      (.migrateSubscription, ["12"], "POST", "/advancedCommerce/v1/subscription/migrate/12"),
      (.changeSubscriptionPrice, ["12"], "POST", "/advancedCommerce/v1/subscription/changePrice/12"),
      (.cancelSubscription, ["12"], "POST", "/advancedCommerce/v1/subscription/cancel/12"),
      (.revokeSubscription, ["12"], "POST", "/advancedCommerce/v1/subscription/revoke/12"),
      (.requestTransactionRefund, ["12"], "POST", "/advancedCommerce/v1/transaction/requestRefund/12"),
      (.sendExternalPurchaseReport, [], "PUT", "/externalPurchase/v1/reports"),
      (.retrieveExternalPurchaseReport, ["r"], "GET", "/externalPurchase/v1/reports/r"),
    ] as [(AppStoreServerEndpoint, [String], String, String)])
  func paths(endpoint: AppStoreServerEndpoint, values: [String], method: String, path: String) throws {
    #expect(try endpoint.path(values) == path)
    #expect(endpoint.method == method)
  }

  @Test("the default hosts are those that Apple recommends")
  func hosts() {
    #expect(AppStoreServer.production.defaultBaseURL == "https://api.storekit.apple.com")
    #expect(AppStoreServer.sandbox.defaultBaseURL == "https://api.storekit-sandbox.apple.com")
  }

  @Test(
    "special characters in a value stay within its path segment",
    arguments: [
      ("a/b", "a%2Fb"), ("a b?c#d", "a%20b%3Fc%23d"), ("..", "%2E%2E"), (".", "%2E"), ("é", "%C3%A9"), ("100%", "100%25"),
      ("a.b-c_d~e", "a.b-c_d~e"),
    ])
  func encoding(value: String, encoded: String) throws {
    #expect(try AppStoreServerEndpoint.getTransactionInfo.path([value]) == "/inApps/v1/transactions/\(encoded)")
  }

  @Test("an empty value is refused before any call")
  func emptyValue() {
    #expect(throws: RequestRefusal(field: "orderId", "must not be empty")) { try AppStoreServerEndpoint.lookUpOrderID.path([""]) }
  }

  @Test("the endpoint for orders exists only in production")
  func orders() {
    #expect(AppStoreServerEndpoint.lookUpOrderID.exists(on: .production))
    #expect(!AppStoreServerEndpoint.lookUpOrderID.exists(on: .sandbox))
  }

  @Test("a history's query repeats names and keeps its order")
  func historyQuery() throws {
    var query = TransactionHistoryQuery()
    query.revision = "r&1"
    query.startDate = 1
    query.endDate = 2
    query.productIds = ["a", "b"]
    query.productTypes = ["CONSUMABLE"]
    query.sort = .descending
    query.revoked = false
    #expect(
      PercentEncoding.query(try query.items())
        == "?revision=r%261&startDate=1&endDate=2&productId=a&productId=b&productType=CONSUMABLE&sort=DESCENDING&revoked=false")
  }

  @Test("a query that Apple would refuse is refused here")
  func badQueries() {
    let changes: [(inout TransactionHistoryQuery) -> Void] = [
      {
        $0.startDate = 2
        $0.endDate = 2
      }, { $0.productTypes = ["Consumable"] }, { $0.inAppOwnershipType = "MINE" },
      { $0.productIds = [""] }, { $0.revision = "" }, { $0.startDate = -1 },
    ]
    for change in changes {
      var query = TransactionHistoryQuery()
      change(&query)
      #expect(throws: RequestRefusal.self) { try query.items() }
    }
  }

  @Test("extensions have Apple's limits")
  func extensions() throws {
    #expect(throws: RequestRefusal.self) { try RenewalDateExtension(days: 0, reasonCode: 1, requestIdentifier: "a") }
    #expect(throws: RequestRefusal.self) { try RenewalDateExtension(days: 91, reasonCode: 1, requestIdentifier: "a") }
    #expect(throws: RequestRefusal.self) { try RenewalDateExtension(days: 1, reasonCode: 4, requestIdentifier: "a") }
    #expect(throws: RequestRefusal.self) { try RenewalDateExtension(days: 1, reasonCode: 0, requestIdentifier: "") }
    let single = try RenewalDateExtension(days: 90, reasonCode: 3, requestIdentifier: "outage-1")
    #expect(throws: RequestRefusal.self) { try single.massBody(productId: "p", storefronts: []) }
    let mass = try RenewalDateExtension(days: 1, reasonCode: 0, requestIdentifier: "758883e8-151b-47b7-abd0-60c4d804c2f5")
    #expect(try mass.massBody(productId: "p", storefronts: [])["storefrontCountryCodes"] == nil)
    #expect(try mass.massBody(productId: "p", storefronts: ["USA"])["storefrontCountryCodes"] == ["USA"])
    #expect(throws: RequestRefusal.self) { try mass.massBody(productId: "p", storefronts: ["us"]) }
  }

  @Test("without the customer's consent no consumption information is sent")
  func consent() throws {
    let good: JSONObject = ["customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED"]
    #expect(try ConsumptionInformation(version2: good).endpoint == .sendConsumptionInformation)
    var bad = good
    bad["customerConsented"] = false
    #expect(throws: RequestRefusal.self) { try ConsumptionInformation(version2: bad) }
    bad["customerConsented"] = nil
    #expect(throws: RequestRefusal.self) { try ConsumptionInformation(version2: bad) }
  }

  @Test("an undelivered purchase has no consumption, and unknown fields are refused")
  func consumption() {
    let undelivered: JSONObject = [
      "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "UNDELIVERED_OTHER", "consumptionPercentage": 1,
    ]
    #expect(throws: RequestRefusal.self) { try ConsumptionInformation(version2: undelivered) }
    let misspelt: JSONObject = [
      "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED", "refundPreferance": "DECLINE",
    ]
    #expect(throws: RequestRefusal.self) { try ConsumptionInformation(version2: misspelt) }
  }

  @Test("of an auto-renewable subscription, the App Store computes the consumption itself")
  func consumptionOfSubscription() throws {
    var body: JSONObject = ["customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED"]
    let plain = try ConsumptionInformation(version2: body)
    body["consumptionPercentage"] = 50_000
    let stated = try ConsumptionInformation(version2: body)
    for type in ["Consumable", "Non-Consumable", "Non-Renewing Subscription", ""] {
      #expect(throws: Never.self) { try stated.check(productType: type) }
    }
    #expect(throws: Never.self) { try plain.check(productType: "Auto-Renewable Subscription") }
    #expect(throws: RequestRefusal(field: "consumptionPercentage", "must be absent for an auto-renewable subscription")) {
      try stated.check(productType: "Auto-Renewable Subscription")
    }
  }

  @Test(
    "a prorated refund of a product that is no auto-renewable subscription needs a percentage",
    arguments: ["Consumable", "Non-Consumable", "Non-Renewing Subscription"])
  func proratedRefund(type: String) throws {
    func refused(_ preference: JSONValue?, _ percentage: JSONValue?, _ type: String) throws -> RequestRefusal? {
      var body: JSONObject = ["customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED"]
      body["refundPreference"] = preference
      body["consumptionPercentage"] = percentage
      let information = try ConsumptionInformation(version2: body)
      do throws(RequestRefusal) { try information.check(productType: type) } catch { return error }
      return nil
    }
    for percentage in [nil, 0] as [JSONValue?] {
      let refusal = try refused("GRANT_PRORATED", percentage, type)
      #expect(refusal?.field == "consumptionPercentage" && refusal?.reason.contains("above 0") == true, "\(String(describing: refusal))")
      #expect(refusal?.reason.contains("GRANT_FULL or DECLINE") == true)
      for other in [nil, "GRANT_FULL", "DECLINE"] as [JSONValue?] { #expect(try refused(other, percentage, type) == nil) }
    }
    #expect(try refused("GRANT_PRORATED", 1, type) == nil)
    #expect(try refused("GRANT_PRORATED", nil, "Auto-Renewable Subscription") == nil)
    #expect(try refused("GRANT_PRORATED", nil, "A type of next year") == nil)
  }

  @Test(
    "version 1 of consumption information is for consumables and auto-renewable subscriptions",
    arguments: [
      ("Consumable", nil), ("Auto-Renewable Subscription", nil), ("A type of next year", nil), ("Non-Renewing Subscription", "version"),
      ("Non-Consumable", "version"),
    ] as [(String, String?)])
  func version1ByProduct(type: String, field: String?) throws {
    var body: JSONObject = ["customerConsented": true, "sampleContentProvided": true, "appAccountToken": ""]
    for (name, maxValue) in ConsumptionInformation.codes { body[name] = .integer(maxValue) }
    let information = try ConsumptionInformation(version1: body)
    var refusal: RequestRefusal?
    do throws(RequestRefusal) { try information.check(productType: type) } catch { refusal = error }
    #expect(refusal?.field == field && refusal?.reason.contains("must be 2") ?? true)
  }

  @Test("a request for consumption information may be answered for twelve hours")
  func consumptionTime() {
    let hour: Int64 = 3_600_000
    #expect(ConsumptionRequestRule.isOpen(requestedAt: 0, now: 12 * hour))
    #expect(!ConsumptionRequestRule.isOpen(requestedAt: 0, now: 12 * hour + 1))
    #expect(ConsumptionRequestRule.isOpen(requestedAt: .max, now: .max) && !ConsumptionRequestRule.isOpen(requestedAt: .min, now: 0))
  }

  @Test("version 1 requires all twelve fields")
  func consumptionV1() throws {
    var body: JSONObject = ["customerConsented": true, "sampleContentProvided": true, "appAccountToken": ""]
    for (name, maxValue) in ConsumptionInformation.codes { body[name] = .integer(maxValue) }
    #expect(try ConsumptionInformation(version1: body).endpoint == .sendConsumptionInformationV1)
    for (name, maxValue) in ConsumptionInformation.codes {
      var less = body
      less[name] = nil
      #expect(throws: RequestRefusal.self) { try ConsumptionInformation(version1: less) }
      less[name] = .integer(maxValue + 1)
      #expect(throws: RequestRefusal.self) { try ConsumptionInformation(version1: less) }
    }
  }

  @Test("an account token is a UUID")
  func accountToken() throws {
    #expect(throws: Never.self) { try AppAccountToken("758883e8-151b-47b7-abd0-60c4d804c2f5") }
    for text in ["", "758883e8151b47b7abd060c4d804c2f5", "758883e8-151b-47b7-abd0-60c4d804c2fg", "758883e8-151b-47b7-abd0-60c4d804c2f5 "] {
      #expect(throws: RequestRefusal.self) { try AppAccountToken(text) }
    }
  }

  @Test("every signed part of an answer is found, in order")
  func signedParts() throws {
    let response = try #require(
      JSONValue(
        parsing: """
          {"bundleId":"b","data":[{"lastTransactions":[{"signedTransactionInfo":"t1","signedRenewalInfo":"r1"},
          {"signedTransactionInfo":"t2"}]}],"signedTransactions":["t3","t4"],"signedAppTransactionInfo":"a","signedPayload":"n"}
          """
      ).objectValue)
    #expect(SignedParts.find(in: response).map(\.jws) == ["t1", "r1", "t2", "t3", "t4", "a", "n"])
    #expect(SignedParts.find(in: response).map(\.kind).suffix(2) == [.appTransaction, .notification])
  }
}

@Suite("The outcome of an extension")
struct RenewalDateExtensionOutcomeTests {
  @Test("an extension is confirmed by the later end of the same period, and not by another period")
  func isDone() throws {
    let wanted = try RenewalDateExtension(days: 30, reasonCode: 0, requestIdentifier: "a")
    let month: Int64 = 30 * 86_400_000
    func end(_ date: Int64, _ id: String?) -> SubscriptionEnd { SubscriptionEnd(expiresDate: date, transactionId: id) }
    #expect(wanted.isDone(from: end(0, "1"), to: end(month, "1")))
    #expect(wanted.isDone(from: end(0, "1"), to: end(month + 3_600_000, "1")))
    #expect(!wanted.isDone(from: end(0, "1"), to: end(month, "2")))
    #expect(!wanted.isDone(from: end(0, "1"), to: end(0, "1")))
    #expect(!wanted.isDone(from: end(0, "1"), to: end(2 * month, "1")))
    // Stored by an older build without the period: only the date counts.
    #expect(wanted.isDone(from: end(0, nil), to: end(month, "2")))
  }
}
