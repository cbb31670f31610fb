import Cryptography
import Testing
import WireJSON

@testable import AppStore

@Suite("Claims of an unverified notification")
struct HistorySnifferTests {
  static func jws(_ payload: JSONValue) -> String {
    ["{}", payload.serializedString, "signature"].map { Base64.encodeURL(Array($0.utf8)) }.joined(separator: ".")
  }

  static func notification(uuid: String = "A-1", original: String? = "100") -> String {
    var data: JSONObject = ["bundleId": "com.example.app", "environment": "Sandbox"]
    if let original { data["signedTransactionInfo"] = .string(jws(["originalTransactionId": .string(original)])) }
    return jws(["notificationType": "DID_RENEW", "notificationUUID": .string(uuid), "data": .object(data)])
  }

  @Test("a notification has the same keys wherever it comes from")
  func keys() {
    let text = Self.notification()
    let found = NotificationSniffer(signedPayload: text)
    #expect(found.naturalKey == "appstore:Sandbox:a-1" && found.orderKey == "appstore:Sandbox:100")
    #expect(found.bundleId == "com.example.app" && found.notificationType == "DID_RENEW")
    #expect(found.idempotencyKey(signedPayload: text) == NotificationSniffer(signedPayload: text).idempotencyKey(signedPayload: text))
    #expect(NotificationSniffer.naturalKey(environment: "Sandbox", identifier: "A-1") == found.naturalKey)
  }

  @Test("another body with the same UUID cannot occupy its delivery key")
  func forgery() {
    let genuine = Self.notification()
    let forged = genuine + "A"
    let keys = [genuine, forged].map { NotificationSniffer(signedPayload: $0).idempotencyKey(signedPayload: $0) }
    #expect(Set(keys).count == 2)
    #expect(NotificationSniffer(signedPayload: forged).naturalKey == NotificationSniffer(signedPayload: genuine).naturalKey)
  }

  @Test("the environment of an external purchase follows from its id", arguments: [("SANDBOX_1", "Sandbox"), ("abc", "Production")])
  func externalPurchase(id: String, environment: String) {
    let text = Self.jws([
      "notificationUUID": "u", "externalPurchaseToken": ["externalPurchaseId": .string(id), "bundleId": "com.example.app"],
    ])
    #expect(NotificationSniffer(signedPayload: text).environment == environment)
  }

  @Test("a notification without a UUID is known by its payload", arguments: [nil, 5, ""] as [JSONValue?])
  func digest(uuid: JSONValue?) throws {
    func text(_ type: String) -> String {
      var payload: JSONObject = ["notificationType": .string(type), "data": ["bundleId": "com.example.app", "environment": "Sandbox"]]
      payload["notificationUUID"] = uuid
      return Self.jws(.object(payload))
    }
    let found = NotificationSniffer(signedPayload: text("TEST"))
    let identifier = try #require(found.identifier)
    #expect(found.notificationUUID == nil && identifier.hasPrefix("payload-") && found.naturalKey == "appstore:Sandbox:\(identifier)")
    // The same payload under another signature is the same notification.
    #expect(NotificationSniffer(signedPayload: text("TEST") + "A").identifier == identifier)
    #expect(NotificationSniffer(signedPayload: text("DID_RENEW")).identifier != identifier)
  }

  @Test("what the notification itself does not name is read from the JWS inside it, under any name of the object")
  func nested() {
    let transaction: JSONValue = ["bundleId": "com.example.app", "environment": "Sandbox", "productId": "gold"]
    let renewal: JSONValue = ["originalTransactionId": "100", "environment": "Sandbox"]
    let text = Self.jws([
      "notificationUUID": "u",
      "unclaimInfo": ["signedTransactionInfo": .string(Self.jws(transaction)), "signedRenewalInfo": .string(Self.jws(renewal))],
    ])
    let found = NotificationSniffer(signedPayload: text)
    #expect(found.bundleId == "com.example.app" && found.orderKey == "appstore:Sandbox:100" && found.naturalKey == "appstore:Sandbox:u")
  }

  @Test(
    "text that is no notification has no natural key, but one delivery key for each text",
    arguments: [
      "", "a.b", "a.b.c", "..", "a.!!!.c", "\(String(repeating: "a", count: 300_000)).b.c", Self.jws([1, 2]),
      String(repeating: ".", count: 250_000), Self.jws(["notificationUUID": "u"]) + ".",
    ])
  func nothing(text: String) {
    let found = NotificationSniffer(signedPayload: text)
    #expect(found.naturalKey == nil && found.orderKey == nil)
    #expect(found.idempotencyKey(signedPayload: text) != found.idempotencyKey(signedPayload: text + "x"))
  }
}
