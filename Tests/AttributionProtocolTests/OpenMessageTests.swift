import Foundation
import TestSupport
import Testing
import WireJSON

@testable import AttributionProtocol

@Suite("Apple's objects in events")
struct OpenMessageTests {
  private static let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Vectors/appstore/models")

  private static func model(_ name: String) throws -> JSONObject {
    let bytes = Array(try Data(contentsOf: models.appendingPathComponent(name)))
    return try #require(try JSONValue(parsing: bytes).objectValue)
  }

  @Test("every member of Apple's examples has a type, and nothing of them is lost")
  func vectors() throws {
    func check<Message: OpenMessage>(_ type: Message.Type, _ names: String...) throws {
      for name in names {
        let object = try Self.model(name)
        let message = Message(object)
        #expect(message.object == object, "\(name)")
        #expect(message.other.keys.isEmpty, "\(name): \(message.other.keys)")
      }
    }
    try check(
      NotificationPayload.self, "signedConsumptionRequestNotification.json", "signedExternalPurchaseTokenSandboxNotification.json",
      "signedSummaryNotification.json")
    try check(TransactionPayload.self, "signedTransactionWithRevocation.json")
    try check(RenewalPayload.self, "signedRenewalInfo.json")
    try check(AppTransactionPayload.self, "appTransaction.json")
  }

  @Test("the newest fields have their types")
  func newest() throws {
    let object: JSONObject = [
      "transactionId": "70000000000001", "revocationType": "REFUND_PRORATED", "revocationPercentage": 50_000, "offerPeriod": "P1M",
      "appTransactionId": "71134", "billingPlanType": "MONTHLY", "previousOriginalTransactionId": "6", "price": 9_007_199_254_740_993,
      "commitmentInfo": [
        "billingPeriodNumber": 3, "totalBillingPeriods": 12, "commitmentExpiresDate": 1_790_000_000_000, "commitmentPrice": 119_880,
      ],
      "advancedCommerceInfo": [
        "requestReferenceId": "1c8a1d4f-6d3d-4f6a-8b0e-2b7b3b1a9c55", "taxCode": "C003-00-2", "taxRate": "0.0859", "period": "P1M",
        "estimatedTax": 790, "taxExclusivePrice": 9200, "descriptors": ["description": "A bundle", "displayName": "Bundle"],
        "items": [
          [
            "SKU": "one", "description": "One", "displayName": "1", "price": 4990, "revocationDate": 1_780_000_000_000,
            "offer": ["period": "P3D", "periodCount": 1, "price": 0, "reason": "WIN_BACK"],
            "refunds": [
              ["refundAmount": 100, "refundDate": 1_780_000_000_000, "refundReason": "A_NEW_REASON", "refundType": "CUSTOM", "new": true]
            ],
          ]
        ],
      ],
    ]
    let transaction = TransactionPayload(object)
    #expect(transaction.other.keys.isEmpty)
    #expect((transaction.revocationType, transaction.revocationPercentage) == ("REFUND_PRORATED", 50_000))
    #expect(transaction.price == 9_007_199_254_740_993)
    #expect(transaction.commitmentInfo?.totalBillingPeriods == 12)
    #expect(transaction.advancedCommerceInfo?.taxRate == "0.0859")
    let refund = try #require(transaction.advancedCommerceInfo?.items.first?.refunds.first)
    // New words and new members are kept.
    #expect(refund.refundReason == "A_NEW_REASON")
    #expect(refund.other == ["new": true])
    #expect(transaction.object == object)
    #expect(try TransactionPayload(json: JSONValue.object(object).serialized) == transaction)
    let written = try #require(try JSONValue(parsing: transaction.json).objectValue)
    #expect(written == object)
  }

  @Test("a member of an unexpected type is kept unchanged, and the other members can be read")
  func otherTypes() {
    let object: JSONObject = [
      "transactionId": 5, "price": "9990", "quantity": 4_294_967_296, "isUpgraded": "true", "expiresDate": nil, "productId": "p",
      "advancedCommerceInfo": "none", "commitmentInfo": ["billingPeriodNumber": "3", "totalBillingPeriods": 12],
    ]
    let transaction = TransactionPayload(object)
    #expect(transaction.productId == "p")
    #expect(transaction.transactionId == nil && transaction.price == nil && transaction.quantity == nil && transaction.isUpgraded == nil)
    #expect(transaction.advancedCommerceInfo == nil)
    #expect(transaction.commitmentInfo?.billingPeriodNumber == nil && transaction.commitmentInfo?.totalBillingPeriods == 12)
    #expect(
      Set(transaction.other.keys) == ["transactionId", "price", "quantity", "isUpgraded", "expiresDate", "advancedCommerceInfo"])
    #expect(transaction.object == object)
    let lists = RenewalPayload(["eligibleWinBackOfferIds": ["a", 5]])
    #expect(lists.eligibleWinBackOfferIds.isEmpty && lists.object == ["eligibleWinBackOfferIds": ["a", 5]])
    #expect(RenewalPayload(["eligibleWinBackOfferIds": []]).object == ["eligibleWinBackOfferIds": []])
    #expect(RenewalPayload(["eligibleWinBackOfferIds": ["a", "b"]]).eligibleWinBackOfferIds == ["a", "b"])
  }

  @Test("names with hyphens, and those that do not follow Swift's style, are Apple's")
  func names() {
    let object: JSONObject = [
      "jws-string": "e30.e30.", "ad-interaction-type": "click", "conversion-value": 5, "country-code": "DE",
      "payload": [
        "postback-identifier": "A", "source-identifier": "07", "did-win": true, "postback-sequence-index": 0,
        "advertised-item-identifier": 10_738_027_756, "conversion-type": "re-engagement", "geo": "Berlin",
      ],
    ]
    let postback = AdAttributionKitPostbackPayload(object)
    #expect(postback.payload?.sourceIdentifier == "07")
    #expect(postback.payload?.advertisedItemIdentifier == 10_738_027_756)
    #expect(postback.payload?.other == ["geo": "Berlin"])
    #expect(postback.object == object)
    let notification: JSONObject = ["notificationUUID": "u", "notificationType": "NEW_TYPE", "subtype": "NEW"]
    #expect(NotificationPayload(notification).notificationUUID == "u")
    #expect(NotificationPayload(notification).object == notification)
  }

  @Test("an event's data is read by its type only")
  func events() throws {
    let data: JSONObject = [
      "deliveryId": "1", "receivedAt": "2026-11-25T10:00:00Z", "environment": "Sandbox", "notificationType": "EXTERNAL_PURCHASE_TOKEN",
      "externalPurchaseToken": ["externalPurchaseId": "SANDBOX_1", "tokenType": "SERVICES", "tokenExpirationDate": 1_790_000_000_000],
      "later": 1,
    ]
    let event = CloudEvent(
      id: "1", source: "/verifier", type: .notificationVerified, subject: nil, time: Timestamp(millisecondsSince1970: 0), data: data)
    let read = try #require(event.data(as: NotificationVerifiedEvent.self))
    #expect(read.externalPurchaseToken?.tokenType == "SERVICES")
    #expect(read.receivedAt == Timestamp(text: "2026-11-25T10:00:00Z"))
    #expect(read.other == ["later": 1])
    #expect(read.object == data)
    #expect(event.data(as: TransactionObservedEvent.self) == nil)
  }

  @Test("nothing of any object is lost")
  func property() {
    var random = SeededRandom("open messages")
    let names = [
      "transactionId", "price", "quantity", "isUpgraded", "advancedCommerceInfo", "commitmentInfo", "items", "SKU", "refunds", "offer",
      "data", "summary", "status", "signedDate", "eligibleWinBackOfferIds", "storefrontCountryCodes", "new", "payload", "other", "object",
    ]
    func value(_ depth: Int) -> JSONValue {
      switch Int.random(in: 0...(depth > 3 ? 5 : 7), using: &random) {
      case 0: .null
      case 1: .bool(.random(using: &random))
      case 2: .integer(Int64.random(in: Int64.min...Int64.max, using: &random))
      case 3: .integer(Int64.random(in: -3...3, using: &random))
      case 4: .string(["", "1", "2026-11-25T10:00:00Z", "REFUND_FULL"].randomElement(using: &random)!)
      case 5: (try? JSONValue(parsing: ["1.0", "1e3", "-0", "0.5", "12345678901234567890"].randomElement(using: &random)!)) ?? .null
      case 6: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1) })
      default: .object(object(depth + 1))
      }
    }
    func object(_ depth: Int) -> JSONObject {
      var object = JSONObject()
      for name in names.shuffled(using: &random).prefix(Int.random(in: 0...8, using: &random)) { object[name] = value(depth) }
      return object
    }
    for _ in 0..<3000 {
      let object = object(0)
      #expect(TransactionPayload(object).object == object)
      #expect(RenewalPayload(object).object == object)
      #expect(NotificationPayload(object).object == object)
      #expect(NotificationVerifiedEvent(object).object == object)
    }
  }
}
