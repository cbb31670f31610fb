import Cryptography
import WireJSON

/// The bearer token for the App Store Server API, a JWT (Generating JSON Web Tokens for API requests).
public struct AppStoreServerToken: Sendable, Hashable {
  /// The longest lifetime that Apple accepts, seconds.
  public static let maxLifetime: Int64 = 3600
  /// Seconds.
  public static let defaultLifetime: Int64 = 1200
  public static let audience = "appstoreconnect-v1"

  public let keyId: String
  public let issuerId: String
  public let bundleId: String
  /// Seconds since 1970.
  public let issuedAt: Int64
  /// Seconds since 1970.
  public let expiresAt: Int64

  /// - Parameters:
  ///   - lifetime: 1 to 3600 seconds; nil: 20 minutes.
  ///   - now: milliseconds since 1970. The time of issue is rounded down to seconds, so that it is never in the future.
  public init(keyId: String, issuerId: String, bundleId: String, lifetime: Int64? = nil, now: Int64) throws(SigningRefusal) {
    let lifetime = lifetime ?? Self.defaultLifetime
    guard (1...Self.maxLifetime).contains(lifetime) else {
      throw SigningRefusal(field: "lifetimeSeconds", reason: "must be 1 to \(Self.maxLifetime)")
    }
    self.keyId = keyId
    self.issuerId = issuerId
    self.bundleId = bundleId
    issuedAt = now / 1000
    expiresAt = issuedAt + lifetime
  }

  /// True if a new token must be made at `now`, milliseconds since 1970, because less than a tenth of the lifetime or less than 60 seconds
  /// remain. For a lifetime below two minutes, half of it counts instead of the 60 seconds.
  public func needsRenewal(now: Int64) -> Bool {
    let remaining = expiresAt * 1000 - now
    return remaining < max(min(60_000, (expiresAt - issuedAt) * 1000 / 2), (expiresAt - issuedAt) * 100)
  }

  var claims: JSONObject {
    [
      "iss": .string(issuerId), "iat": .integer(issuedAt), "exp": .integer(expiresAt), "aud": .string(Self.audience),
      "bid": .string(bundleId),
    ]
  }

  /// The signed token, for the header `Authorization: Bearer`.
  public func sign(with key: some MessageSigner) throws(SignatureError) -> String {
    try AppStoreJWT.sign(keyId: keyId, claims: claims, with: key)
  }
}

/// A JWT as Apple requires it: with `alg`, `kid` and `typ` in its header, and a raw signature (r and s, not DER).
enum AppStoreJWT {
  static func sign(keyId: String, claims: JSONObject, with key: some MessageSigner) throws(SignatureError) -> String {
    let input = signingInput(keyId: keyId, claims: claims)
    return CompactJWS.completed(input, with: try key.sign(Array(input.utf8)))
  }

  static func signingInput(keyId: String, claims: JSONObject) -> String {
    let header: JSONObject = ["alg": "ES256", "kid": .string(keyId), "typ": "JWT"]
    return CompactJWS.signingInput(
      encodedHeader: Base64.encodeURL(JSONValue.object(header).serialized), payload: JSONValue.object(claims).serialized)
  }
}
