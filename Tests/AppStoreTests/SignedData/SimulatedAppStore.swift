import Foundation
import WireJSON

@testable import AppleSimulator

/// The simulated App Store's signatures, for data that no vector has.
struct SimulatedAppStore: Sendable {
  static let bundleId = "com.example.app"
  static let appAppleId: Int64 = 525_463_029

  /// The root certificate, in DER.
  let root: [UInt8]
  private let signer: JWSSigner

  /// One for all tests, because new keys and certificates take time.
  static let shared: SimulatedAppStore? = try? SimulatedAppStore()

  private init() throws {
    let path = NSTemporaryDirectory() + "/simulated-app-store-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    let chain = try AppStoreChain(in: StateDirectory(path: path))
    root = try chain.root.der()
    signer = JWSSigner(chain: chain)
  }

  func sign(_ payload: JSONObject) throws -> String { try signer.sign(payload) }

  // MARK: Payloads with all members that matter

  static func transaction(at now: Int64, environment: String = "Production") -> JSONObject {
    [
      "transactionId": "2000", "originalTransactionId": "1000", "bundleId": .string(bundleId), "productId": "com.example.app.monthly",
      "subscriptionGroupIdentifier": "20465413", "purchaseDate": .integer(now - 1000), "originalPurchaseDate": .integer(now - 1000),
      "expiresDate": .integer(now + 2_592_000_000), "quantity": 1, "type": "Auto-Renewable Subscription",
      "inAppOwnershipType": "PURCHASED", "signedDate": .integer(now), "environment": .string(environment), "price": 9990,
      "currency": "USD",
    ]
  }

  static func renewalInfo(at now: Int64, environment: String = "Production") -> JSONObject {
    [
      "originalTransactionId": "1000", "productId": "com.example.app.monthly", "autoRenewProductId": "com.example.app.monthly",
      "autoRenewStatus": 1, "signedDate": .integer(now), "environment": .string(environment), "renewalDate": .integer(now + 2_592_000_000),
      "recentSubscriptionStartDate": .integer(now - 1000),
    ]
  }

  static func appTransaction(at now: Int64, environment: String = "Production") -> JSONObject {
    [
      "receiptType": .string(environment), "appAppleId": .integer(appAppleId), "bundleId": .string(bundleId), "applicationVersion": "1.0",
      "receiptCreationDate": .integer(now), "originalPurchaseDate": .integer(now), "originalApplicationVersion": "1.0",
      "appTransactionId": "7",
    ]
  }

  static func realtimeRequest(at now: Int64, environment: String = "Production") -> JSONObject {
    [
      "originalTransactionId": "1000", "appAppleId": .integer(appAppleId), "productId": "com.example.app.monthly", "userLocale": "en-US",
      "requestIdentifier": "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9", "environment": .string(environment), "signedDate": .integer(now),
    ]
  }

  /// A notification whose object named `holder` has the given members beside those of every notification; null removes one.
  static func notification(
    _ type: String = "DID_RENEW", holder: String = "data", having members: JSONObject = [:], at now: Int64,
    environment: String = "Production"
  ) -> JSONObject {
    var object: JSONObject = ["bundleId": .string(bundleId), "environment": .string(environment)]
    if environment == "Production" { object["appAppleId"] = .integer(appAppleId) }
    for member in members.members {
      if member.value.isNull { object[member.key] = nil } else { object[member.key] = member.value }
    }
    return [
      "notificationType": .string(type), "notificationUUID": "6f5902ac-237f-4d8b-9a4f-2c7f0c5f6f11", "version": "2.0",
      "signedDate": .integer(now), holder: .object(object),
    ]
  }
}

extension JSONObject {
  /// The object with a member replaced, or without it.
  func with(_ name: String, _ value: JSONValue?) -> JSONObject {
    var object = self
    object[name] = value
    return object
  }
}
