import Cryptography
import WireJSON

/// A JWS that an app passes to StoreKit (Generating JWS to sign App Store requests). It has no `exp`, because Apple derives the expiry from
/// `iat`.
public struct AppStoreRequestJWS: Sendable, Hashable {
  public let keyId: String
  /// The claims of the payload: those that every such JWS has, then those of this use.
  public let claims: JSONObject

  private init(
    keyId: String, issuerId: String, bundleId: String, audience: String, now: Int64, nonce: String?, _ more: JSONObject
  ) throws(SigningRefusal) {
    self.keyId = keyId
    let nonce = try nonce.map { text throws(SigningRefusal) in try OfferRules.uuid(text, "nonce") } ?? RandomBytes.uuid()
    var claims: JSONObject = [
      "iss": .string(issuerId), "iat": .integer(now / 1000), "aud": .string(audience), "bid": .string(bundleId),
      "nonce": .string(nonce),
    ]
    for member in more.members { claims[member.key] = member.value }
    self.claims = claims
  }

  /// A promotional offer, in the second version of its signature; ``PromotionalOffer`` is the first. The transaction id (any of the
  /// customer's, or an appTransactionId) is recommended by Apple. If it is absent, the claim is left out and not null.
  public static func promotionalOffer(
    keyId: String, issuerId: String, bundleId: String, productId: String?, offerIdentifier: String?, transactionId: String?,
    nonce: String? = nil, now: Int64
  ) throws(SigningRefusal) -> AppStoreRequestJWS {
    var claims: JSONObject = [
      "productId": .string(try OfferRules.text(productId, "productId")),
      "offerIdentifier": .string(try OfferRules.text(offerIdentifier, "offerIdentifier")),
    ]
    if transactionId != nil { claims["transactionId"] = .string(try OfferRules.text(transactionId, "transactionId")) }
    return try AppStoreRequestJWS(
      keyId: keyId, issuerId: issuerId, bundleId: bundleId, audience: "promotional-offer", now: now, nonce: nonce, claims)
  }

  /// States whether the customer is eligible for the introductory offer.
  public static func introductoryOfferEligibility(
    keyId: String, issuerId: String, bundleId: String, productId: String?, allowIntroductoryOffer: Bool?, transactionId: String?,
    nonce: String? = nil, now: Int64
  ) throws(SigningRefusal) -> AppStoreRequestJWS {
    let productId = try OfferRules.text(productId, "productId")
    guard let allowIntroductoryOffer else { throw SigningRefusal(field: "allowIntroductoryOffer", reason: "is required") }
    return try AppStoreRequestJWS(
      keyId: keyId, issuerId: issuerId, bundleId: bundleId, audience: "introductory-offer-eligibility", now: now, nonce: nonce,
      [
        "productId": .string(productId), "allowIntroductoryOffer": .bool(allowIntroductoryOffer),
        "transactionId": .string(try OfferRules.text(transactionId, "transactionId")),
      ])
  }

  /// A request to the Advanced Commerce API that an app sends. Its bytes are signed as given, without serializing the JSON again.
  public static func advancedCommerce(
    keyId: String, issuerId: String, bundleId: String, request: [UInt8], nonce: String? = nil, now: Int64
  ) throws(SigningRefusal) -> AppStoreRequestJWS {
    let field = "requestText"
    guard case .object(let object) = try? JSONValue(parsing: request) else {
      throw SigningRefusal(field: field, reason: "must be a JSON object")
    }
    for name in ["operation", "version"] where object[name]?.stringValue?.isEmpty ?? true {
      throw SigningRefusal(field: "\(field).\(name)", reason: "is required")
    }
    guard let reference = object["requestInfo"]?["requestReferenceId"]?.stringValue else {
      throw SigningRefusal(field: "\(field).requestInfo.requestReferenceId", reason: "is required")
    }
    _ = try OfferRules.uuid(reference, "\(field).requestInfo.requestReferenceId")
    return try AppStoreRequestJWS(
      keyId: keyId, issuerId: issuerId, bundleId: bundleId, audience: "advanced-commerce-api", now: now, nonce: nonce,
      ["request": .string(Base64.encode(request))])
  }

  /// The text to sign, header and payload. `CompactJWS.completed(_:with:)` appends the signature.
  public var signingInput: String { AppStoreJWT.signingInput(keyId: keyId, claims: claims) }
}
