import Cryptography

/// The values of a promotional offer in the first version of its signature (Generating a signature for promotional offers).
/// ``AppStoreRequestJWS`` has the second version.
///
/// A signature can be used for one purchase attempt, even if it fails. It is valid for 24 hours from the timestamp.
public struct PromotionalOffer: Sendable, Hashable {
  public let bundleId: String
  public let keyId: String
  public let productIdentifier: String
  public let offerIdentifier: String
  /// The app account token or the user's name in the app, in lower case; empty if there is none.
  public let applicationUsername: String
  /// A UUID in lower case.
  public let nonce: String
  /// Milliseconds since 1970.
  public let timestamp: Int64

  /// Validates all values. Throws ``SigningRefusal`` with the field. ``OfferRules`` has the rules for texts and UUIDs.
  ///
  /// - Parameters:
  ///   - appAccountToken: a UUID. Only one of `appAccountToken` and `applicationUsername` may be given.
  ///   - nonce: a UUID; nil for a new one.
  ///   - timestamp: milliseconds since 1970, at most 24 hours from `now`; nil for `now`.
  public init(
    bundleId: String, keyId: String, productIdentifier: String?, offerIdentifier: String?, applicationUsername: String? = nil,
    appAccountToken: String? = nil, nonce: String? = nil, timestamp: Int64? = nil, now: Int64
  ) throws(SigningRefusal) {
    self.bundleId = try OfferRules.text(bundleId, "bundleId")
    self.keyId = try OfferRules.text(keyId, "keyId")
    self.productIdentifier = try OfferRules.text(productIdentifier, "productIdentifier")
    self.offerIdentifier = try OfferRules.text(offerIdentifier, "offerIdentifier")
    if let appAccountToken, !appAccountToken.isEmpty {
      guard applicationUsername?.isEmpty ?? true else {
        throw SigningRefusal(field: "appAccountToken", reason: "must not be given together with applicationUsername; only one is signed")
      }
      self.applicationUsername = try OfferRules.uuid(appAccountToken, "appAccountToken")
    } else {
      self.applicationUsername = try OfferRules.optionalText(applicationUsername ?? "", "applicationUsername").lowercased()
    }
    self.nonce = try nonce.map { text throws(SigningRefusal) in try OfferRules.uuid(text, "nonce") } ?? RandomBytes.uuid()
    guard let timestamp else {
      self.timestamp = now
      return
    }
    let (distance, overflow) = timestamp.subtractingReportingOverflow(now)
    guard timestamp > 0, !overflow, distance.magnitude <= TimeWindow.millisecondsPerDay.magnitude else {
      throw SigningRefusal(field: "timestamp", reason: "must be milliseconds since 1970, at most a day from now")
    }
    self.timestamp = timestamp
  }

  /// The bytes to sign: seven fields joined with U+2063. Empty fields keep their separators.
  public var message: [UInt8] {
    Array(
      [bundleId, keyId, productIdentifier, offerIdentifier, applicationUsername, nonce, String(timestamp)]
        .joined(separator: "\u{2063}").utf8)
  }

  /// A signature of ``message`` in the format for the app: DER in standard Base64.
  public static func text(of signature: ECDSASignature) -> String { Base64.encode(signature.der) }
}
