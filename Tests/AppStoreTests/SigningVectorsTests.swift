import AppStore
import Cryptography
import Foundation
import Testing
import WireJSON

/// `Tests/Vectors/appstore/signing.json`.
@Suite("Signatures for the App Store")
struct SigningVectorsTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../Vectors/appstore")
  static let file = try! JSONValue(parsing: [UInt8](try! Data(contentsOf: folder.appendingPathComponent("signing.json"))))
  static let ids = file["cases"]!.arrayValue!.map { $0["id"]!.stringValue! }
  static let key = try! SigningKey(
    pem: String(contentsOf: folder.appendingPathComponent(file["privateKey"]!.stringValue!), encoding: .utf8))
  static let now: Int64 = 1_790_000_000_123

  @Test("every case has the message, header and claims of its vector", arguments: ids)
  func vector(_ id: String) throws {
    let vector = try #require(Self.file["cases"]!.arrayValue!.first { $0["id"]?.stringValue == id })
    let inputs = vector["inputs"]!
    func text(_ name: String) -> String? { inputs[name]?.stringValue }
    let expect = vector["expect"]!
    #expect(Self.key.publicKey.pem == Self.file["publicKeyPem"]!.stringValue!)
    switch vector["kind"]!.stringValue! {
    case "promotional-offer-v1":
      let timestamp = try #require(inputs["timestamp"]?.int64Value)
      let offer = try PromotionalOffer(
        bundleId: text("bundleId")!, keyId: text("keyId")!, productIdentifier: text("productIdentifier"),
        offerIdentifier: text("offerIdentifier"), applicationUsername: text("appAccountToken"), nonce: text("nonce"),
        timestamp: timestamp, now: timestamp + 1000)
      #expect(Hex.encode(offer.message) == expect["messageHex"]?.stringValue)
      for signature in [try offer.sign(with: Self.key), try #require(expect["sampleSignature"]?.stringValue)] {
        let der = try #require(Base64.decode(signature))
        #expect(Self.key.publicKey.verifies(try ECDSASignature(der: der, curve: .p256), of: offer.message))
      }
    case "api-jwt":
      let token = try AppStoreServerToken(
        keyId: text("keyId")!, issuerId: text("issuerId")!, bundleId: text("bundleId")!, now: Self.now)
      try check(try token.sign(with: Self.key), expect)
    case "promotional-offer-v2":
      let request = try AppStoreRequestJWS.promotionalOffer(
        keyId: text("keyId")!, issuerId: text("issuerId")!, bundleId: text("bundleId")!, productId: text("productId"),
        offerIdentifier: text("offerIdentifier"), transactionId: text("transactionId"), now: Self.now)
      try check(try request.sign(with: Self.key), expect)
    default: Issue.record("unknown kind")
    }
  }

  func check(_ text: String, _ expect: JSONValue) throws {
    let jws = try CompactJWS(text)
    #expect(try JSONValue(parsing: jws.header) == expect["header"])
    let claims = try #require(try JSONValue(parsing: jws.payload).objectValue)
    for member in expect["claims"]!.objectValue!.members { #expect(claims[member.key] == member.value) }
    for name in expect["present"]!.arrayValue! { #expect(claims[name.stringValue!] != nil) }
    for name in expect["absent"]!.arrayValue! { #expect(claims[name.stringValue!] == nil) }
    #expect(claims.members.count == expect["claims"]!.objectValue!.members.count + expect["present"]!.arrayValue!.count)
    #expect(Self.key.publicKey.verifies(try ECDSASignature(raw: jws.signature, curve: .p256), of: jws.signingInput))
  }

  @Test("an invalid offer is refused with the field's name")
  func offerRefusals() {
    func field(_ change: (inout [String: String]) -> Void, timestamp: Int64? = nil) -> String? {
      var values = ["productIdentifier": "p", "offerIdentifier": "o"]
      change(&values)
      do throws(SigningRefusal) {
        _ = try PromotionalOffer(
          bundleId: "b", keyId: "k", productIdentifier: values["productIdentifier"], offerIdentifier: values["offerIdentifier"],
          applicationUsername: values["applicationUsername"], appAccountToken: values["appAccountToken"], nonce: values["nonce"],
          timestamp: timestamp, now: Self.now)
        return nil
      } catch { return error.field }
    }
    #expect(field { _ in } == nil)
    #expect(field { $0["productIdentifier"] = nil } == "productIdentifier")
    #expect(field { $0["offerIdentifier"] = "" } == "offerIdentifier")
    #expect(field { $0["offerIdentifier"] = "a\u{2063}b" } == "offerIdentifier")
    #expect(field { $0["applicationUsername"] = "a\u{2063}b" } == "applicationUsername")
    #expect(field { $0["appAccountToken"] = "nobody" } == "appAccountToken")
    #expect(field { $0["nonce"] = "7" } == "nonce")
    #expect(field({ _ in }, timestamp: Self.now - 86_400_001) == "timestamp")
    #expect(field({ _ in }, timestamp: Int64.min) == "timestamp")
    #expect(
      field {
        $0["appAccountToken"] = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
        $0["applicationUsername"] = "me"
      } == "appAccountToken")
  }

  @Test("a token lives up to an hour, is issued 60 s in the past, and is renewed before it ends")
  func tokenLife() throws {
    func token(_ lifetime: Int64?) throws(SigningRefusal) -> AppStoreServerToken {
      try AppStoreServerToken(keyId: "k", issuerId: "i", bundleId: "b", lifetime: lifetime, now: Self.now)
    }
    for lifetime: Int64 in [0, -1, 3601] { #expect(throws: SigningRefusal.self) { try token(lifetime) } }
    let usual = try token(nil)
    #expect(usual.issuedAt == Self.now / 1000 - 60 && usual.expiresAt == Self.now / 1000 + 1200)
    #expect(!usual.needsRenewal(now: Self.now))
    // Our clock was set back: up to 60 s, Apple's clock is not before the time of issue.
    #expect(!usual.needsRenewal(now: usual.issuedAt * 1000))
    #expect(usual.needsRenewal(now: usual.issuedAt * 1000 - 1))
    #expect(!usual.needsRenewal(now: usual.expiresAt * 1000 - 120_000))
    #expect(usual.needsRenewal(now: usual.expiresAt * 1000 - 119_999))
    // Apple counts an hour from the time of issue.
    for (lifetime, expiry) in [(3539, 3539), (3540, 3540), (3541, 3540), (3600, 3540)] as [(Int64, Int64)] {
      #expect(try token(lifetime).expiresAt == Self.now / 1000 + expiry, "\(lifetime)")
    }
    let long = try token(3600)
    #expect(!long.needsRenewal(now: long.expiresAt * 1000 - 354_000))
    #expect(long.needsRenewal(now: long.expiresAt * 1000 - 353_999))
    #expect(!(try token(30)).needsRenewal(now: Self.now))
  }

  @Test("an Advanced Commerce request is signed unchanged, byte by byte")
  func advancedCommerce() throws {
    let text =
      #"{ "operation":"CREATE_ONE_TIME_CHARGE", "version":"1","requestInfo":{"requestReferenceId":"20fba8a0-2b80-4a7d-a17f-85c1854727f8"}, "x":1.50 }"#
    let request = try AppStoreRequestJWS.advancedCommerce(
      keyId: "k", issuerId: "i", bundleId: "b", request: Array(text.utf8), now: Self.now)
    #expect(Base64.decode(try #require(request.claims["request"]?.stringValue)) == Array(text.utf8))
    #expect(request.claims["aud"] == "advanced-commerce-api")
    #expect(request.claims["exp"] == nil)
    for broken in [
      "[]", "{}", #"{"operation":"a","version":"1"}"#, #"{"operation":"a","version":"1","requestInfo":{"requestReferenceId":"x"}}"#,
    ] {
      #expect(throws: SigningRefusal.self) {
        try AppStoreRequestJWS.advancedCommerce(keyId: "k", issuerId: "i", bundleId: "b", request: Array(broken.utf8), now: Self.now)
      }
    }
  }

  @Test("eligibility requires the Boolean and a transaction")
  func eligibility() throws {
    func claims(_ allow: Bool?, _ transactionId: String?) throws -> JSONObject {
      try AppStoreRequestJWS.introductoryOfferEligibility(
        keyId: "k", issuerId: "i", bundleId: "b", productId: "p", allowIntroductoryOffer: allow, transactionId: transactionId,
        now: Self.now
      ).claims
    }
    #expect(try claims(false, "1")["allowIntroductoryOffer"] == false)
    #expect(try claims(true, "1")["aud"] == "introductory-offer-eligibility")
    #expect(throws: SigningRefusal.self) { try claims(nil, "1") }
    #expect(throws: SigningRefusal.self) { try claims(true, nil) }
  }
}
