import Cryptography
import Testing
import WireJSON

@testable import AppStore

@Suite("An answer to a request for a retention message")
struct RealtimeAnswerTests {
  private static let id = RetentionFixture.first

  /// Apple's member names (RealtimeResponseBody).
  private static let answers: [(RealtimeAnswer, String)] = [
    (.defaultMessage, "{}"),
    (.message(identifier: id), #"{"message":{"messageIdentifier":"\#(id)"}}"#),
    (
      .alternateProduct(identifier: id, productId: "yearly", billingPlanType: nil),
      #"{"alternateProduct":{"messageIdentifier":"\#(id)","productId":"yearly"}}"#
    ),
    (
      .alternateProduct(identifier: id, productId: "yearly", billingPlanType: "MONTHLY"),
      #"{"alternateProduct":{"messageIdentifier":"\#(id)","productId":"yearly","billingPlanType":"MONTHLY"}}"#
    ),
    (
      .promotionalOffer(identifier: id, .jws("a.b.c")),
      #"{"promotionalOffer":{"messageIdentifier":"\#(id)","promotionalOfferSignatureV2":"a.b.c"}}"#
    ),
    (
      .promotionalOffer(
        identifier: id,
        .original(
          OriginalOfferSignature(
            encodedSignature: "MEQ=", productId: "yearly", nonce: RetentionFixture.second, timestamp: 1_790_000_000_000, keyId: "K",
            offerIdentifier: "stay", appAccountToken: RetentionFixture.third))),
      #"{"promotionalOffer":{"messageIdentifier":"\#(id)","promotionalOfferSignatureV1":{"encodedSignature":"MEQ=","productId":"yearly","#
        + #""nonce":"\#(RetentionFixture.second)","timestamp":1790000000000,"keyId":"K","offerIdentifier":"stay","#
        + #""appAccountToken":"\#(RetentionFixture.third)"}}}"#
    ),
    (
      .advancedCommerce(identifier: id, data: "e30="),
      #"{"advancedCommerceInfo":{"messageIdentifier":"\#(id)","advancedCommerceData":"e30="}}"#
    ),
  ]

  @Test("it has Apple's form and can be read back")
  func form() throws {
    for (answer, text) in Self.answers {
      #expect(JSONValue.object(answer.json).serializedString == text)
      #expect(RealtimeAnswer(json: try #require(try JSONValue(parsing: text).objectValue)) == answer)
    }
    for text in [
      #"{"message":{}}"#, #"{"message":{"messageIdentifier":"a"},"alternateProduct":{}}"#,
      #"{"promotionalOffer":{"messageIdentifier":"a"}}"#,
      #"{"other":{"messageIdentifier":"a"}}"#,
    ] {
      #expect(RealtimeAnswer(json: try #require(try JSONValue(parsing: text).objectValue)) == nil, "\(text)")
    }
  }

  @Test("an offer to change an Advanced Commerce subscription is for the customer in the request")
  func advancedCommerce() throws {
    let text = JSONValue.object(RetentionFixture.modification).serializedString
    try AdvancedCommerceOffer.check(text)
    let request = try JSONValue(parsing: AdvancedCommerceOffer.request(text, for: RetentionFixture.request()))
    #expect(request["transactionId"] == "99371282")
    #expect(request["requestInfo"]?["requestReferenceId"] == "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9")
    #expect(request["changeItems"]?.arrayValue?.count == 1 && request["retainBillingCycle"] == true)
    let data = try #require(Base64.decode(AdvancedCommerceOffer.data(jws: "a.b.c")))
    #expect(try JSONValue(parsing: data)["signatureInfo"]?["token"] == "a.b.c")
    for text in ["", "[]"] { #expect(field(text) == "request") }
    #expect(field("\"" + String(repeating: "a", count: 16 << 10) + "\"") == "request")
  }

  private func field(_ text: String) -> String? {
    do throws(RequestRefusal) {
      try AdvancedCommerceOffer.check(text)
      return nil
    } catch { return error.field }
  }

  /// The field that is named if one member of the request or of an object in it has another value, or none.
  private func field(_ path: [String], _ value: JSONValue?) -> String? {
    func changed(_ object: JSONObject, _ path: ArraySlice<String>) -> JSONObject {
      var object = object
      guard let name = path.first else { return object }
      if path.count == 1 {
        object[name] = value
      } else if let list = object[name]?.arrayValue {
        object[name] = .array(list.map { .object(changed($0.objectValue ?? [:], path.dropFirst())) })
      } else {
        object[name] = .object(changed(object[name]?.objectValue ?? [:], path.dropFirst()))
      }
      return object
    }
    return field(JSONValue.object(changed(RetentionFixture.modification, path[...])).serializedString)
  }

  @Test("a missing or wrong member of an Advanced Commerce request is named")
  func members() {
    let item = "request.changeItems[0]."
    for name in ["operation", "version", "retainBillingCycle", "changeItems"] {
      #expect(field([name], nil) == "request." + name)
      #expect(field([name], 5) == "request." + name)
    }
    for name in ["currentSKU", "SKU", "displayName", "description", "effective", "reason", "price"] {
      #expect(field(["changeItems", name], nil) == item + name)
      #expect(field(["changeItems", name], [:]) == item + name)
    }
    for name in ["period", "periodCount", "price", "reason"] {
      #expect(field(["changeItems", "offer", name], nil) == item + "offer." + name)
      #expect(field(["changeItems", "offer", name], []) == item + "offer." + name)
    }
    #expect(field(["operation"], "CREATE_SUBSCRIPTION") == "request.operation" && field(["version"], "2") == "request.version")
    #expect(field(["changeItems", "changeSKU"], "b") == item + "changeSKU" && field(["sku"], "b") == "request.sku")
    #expect(field(["changeItems"], [1, 2]) == "request.changeItems[0]" && field(["changeItems"], [[:], [:]]) == "request.changeItems")
    #expect(field(["addItems"], []) == "request.addItems" && field(["removeItems"], []) == "request.removeItems")
    #expect(field(["storefront"], "US") == "request.storefront" && field(["taxCode"], "C003") == "request.taxCode")
    #expect(field(["requestInfo", "requestReferenceId"], "x") == "request.requestInfo.requestReferenceId")
    #expect(field(["descriptors"], ["displayName": "a"]) == "request.descriptors.effective")
    #expect(field(["periodChange"], ["effective": "IMMEDIATELY", "period": "P2W"]) == "request.periodChange.period")
    #expect(field(["periodChange"], ["effective": "IMMEDIATELY", "period": "P1Y"]) == nil)
  }

  @Test("texts, counts and prices of an Advanced Commerce request are checked at their limits")
  func limits() {
    func text(_ length: Int) -> JSONValue { .string(String(repeating: "a", count: length)) }
    for (name, maxLength) in [("currentSKU", 128), ("SKU", 128), ("displayName", 30), ("description", 45)] {
      #expect(field(["changeItems", name], text(maxLength)) == nil)
      #expect(field(["changeItems", name], text(maxLength + 1)) == "request.changeItems[0]." + name)
      #expect(field(["changeItems", name], text(0)) == "request.changeItems[0]." + name)
    }
    for (count, isGood) in [(0, false), (1, true), (12, true), (13, false)] as [(Int64, Bool)] {
      let found = field(["changeItems", "offer", "periodCount"], .integer(count))
      #expect(found == (isGood ? nil : "request.changeItems[0].offer.periodCount"))
    }
    // The fixture's currency is EUR, which has two decimal places.
    for (price, isGood) in [(-10, false), (0, true), (10, true), (4_995, false)] as [(Int64, Bool)] {
      #expect(field(["changeItems", "price"], .integer(price)) == (isGood ? nil : "request.changeItems[0].price"))
    }
  }

  @Test("a rule's Advanced Commerce request must not name one customer")
  func rules() {
    for (member, value, field) in [
      ("transactionId", "1", "request.transactionId"),
      ("requestInfo", ["requestReferenceId": .string(RetentionFixture.first)], "request.requestInfo.requestReferenceId"),
    ] as [(String, JSONValue, String)] {
      var request = RetentionFixture.modification
      request[member] = value
      let text = JSONValue.object(request).serializedString
      #expect(self.field(text) == nil)
      do throws(RequestRefusal) {
        try AdvancedCommerceOffer.checkRule(text)
        Issue.record("\(member) was accepted")
      } catch { #expect(error.field == field) }
    }
  }
}
