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
    let text = #"{"operation":"MODIFY_SUBSCRIPTION","version":"1","changeItems":[{"SKU":"a"}],"retainBillingCycle":true}"#
    try AdvancedCommerceOffer.check(text)
    let request = try JSONValue(parsing: AdvancedCommerceOffer.request(text, for: RetentionFixture.request()))
    #expect(request["transactionId"] == "99371282")
    #expect(request["requestInfo"]?["requestReferenceId"] == "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9")
    #expect(request["changeItems"]?.arrayValue?.count == 1 && request["retainBillingCycle"] == true)
    let data = try #require(Base64.decode(AdvancedCommerceOffer.data(jws: "a.b.c")))
    #expect(try JSONValue(parsing: data)["signatureInfo"]?["token"] == "a.b.c")
    for (text, field) in [
      ("", "request"), ("[]", "request"), (#"{"operation":"CREATE_SUBSCRIPTION"}"#, "request.operation"),
      (#"{"operation":"MODIFY_SUBSCRIPTION"}"#, "request.version"),
      (#"{"operation":"MODIFY_SUBSCRIPTION","version":"1"}"#, "request.changeItems"),
      (#"{"operation":"MODIFY_SUBSCRIPTION","version":"1","changeItems":[1,2]}"#, "request.changeItems"),
    ] {
      #expect(throws: RequestRefusal.self) { try AdvancedCommerceOffer.check(text) }
      do { try AdvancedCommerceOffer.check(text) } catch { #expect(error.field == field) }
    }
  }
}
