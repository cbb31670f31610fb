import Cryptography
import Foundation
import Testing
import WireJSON

@testable import AppStore

@Suite("External purchase tokens")
struct ExternalPurchaseTokenTests {
  static let production: JSONObject = [
    "appAppleId": 55555, "bundleId": "com.example", "tokenCreationDate": 1_698_148_950_000,
    "externalPurchaseId": "b2158121-7af9-49d4-9561-1f588205523e",
  ]
  static let customLink: JSONObject = [
    "appAppleId": 55555, "bundleId": "com.example", "tokenCreationDate": 1_698_148_950_000,
    "externalPurchaseId": "SANDBOX_b2158121-7af9-49d4-9561-1f588205523e", "tokenType": "ACQUISITION",
    "tokenExpirationDate": 1_729_684_950_000, "newMember": ["of": "Apple's"],
  ]

  private static func text(_ object: JSONObject) -> String { Base64.encodeURL(JSONValue.object(object).serialized) }

  @Test("a token is decoded with and without padding, and with white space around it")
  func decodes() throws {
    for text in [Self.text(Self.production), Self.text(Self.production) + "==", " \n" + Self.text(Self.production) + "=\r\n"] {
      let token = try ExternalPurchaseToken(decoding: text)
      #expect(token.id == "b2158121-7af9-49d4-9561-1f588205523e")
      #expect(token.environment == "Production")
      #expect(token.creationDate == 1_698_148_950_000)
      #expect((token.appAppleId, token.bundleId) == (55555, "com.example"))
      #expect((token.type, token.expirationDate) == (nil, nil))
      #expect(token.isExpired(at: 0) == nil)
      #expect(token.object == Self.production)
    }
  }

  @Test("a custom link token has a type and an expiry, and unknown members are preserved")
  func customLinkToken() throws {
    let token = try ExternalPurchaseToken(decoding: Self.text(Self.customLink))
    #expect(token.environment == "Sandbox")
    #expect(token.type == "ACQUISITION")
    #expect(token.isExpired(at: 1_729_684_949_999) == false)
    #expect(token.isExpired(at: 1_729_684_950_000) == true)
    #expect(token.object["newMember"] == ["of": "Apple's"])
  }

  @Test("Apple's Base64URL alphabet is accepted, and standard Base64 is not")
  func alphabet() throws {
    var object = Self.production
    object["more"] = "???>>>~~~ÿÿÿ"
    let text = Self.text(object)
    #expect(text.contains("-") || text.contains("_"))
    #expect(try ExternalPurchaseToken(decoding: text).object == object)
    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    #expect(throws: ExternalPurchaseToken.Failure.notBase64URL) { try ExternalPurchaseToken(decoding: standard) }
  }

  @Test("an invalid token is refused, and the error names the field")
  func refuses() {
    func failure(_ text: String) -> ExternalPurchaseToken.Failure? {
      do throws(ExternalPurchaseToken.Failure) { _ = try ExternalPurchaseToken(decoding: text) } catch { return error }
      return nil
    }
    #expect(failure("") == .notBase64URL)
    #expect(failure("not base64!") == .notBase64URL)
    #expect(failure("====") == .notBase64URL)
    #expect(failure(Base64.encodeURL(Array("[1]".utf8))) == .notAnObject)
    #expect(failure(Base64.encodeURL(Array("{".utf8))) == .notAnObject)
    #expect(failure(String(repeating: "A", count: 9000)) == .tooLarge(limit: 8192))
    for (name, value) in [
      ("externalPurchaseId", JSONValue.null), ("externalPurchaseId", ""), ("externalPurchaseId", 5), ("tokenCreationDate", "soon"),
      ("appAppleId", "55555"), ("bundleId", 1), ("tokenType", []), ("tokenExpirationDate", (try? JSONValue(parsing: "1.5")) ?? []),
    ] {
      var object = Self.customLink
      object[name] = value
      #expect(failure(Self.text(object)) == .malformed(field: name), "\(name)")
    }
  }
}
