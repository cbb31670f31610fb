import Cryptography
import WireJSON

/// The bearer token for the App Store Server API, a JWT (Generating JSON Web Tokens for API requests).
public struct AppStoreServerToken: Sendable, Hashable {
  /// The longest lifetime that Apple accepts, seconds.
  public static let maxLifetime: Int64 = 3600
  /// Seconds.
  public static let defaultLifetime: Int64 = 1200
  /// How far the time of issue lies in the past, seconds. Apple refuses a token from the future, and our clock may be ahead of Apple's.
  public static let issueMargin: Int64 = 60
  public static let audience = "appstoreconnect-v1"

  public let keyId: String
  public let issuerId: String
  public let bundleId: String
  /// Seconds since 1970.
  public let issuedAt: Int64
  /// Seconds since 1970.
  public let expiresAt: Int64

  /// - Parameters:
  ///   - lifetime: 1 to 3600 seconds from `now` on; nil: 20 minutes. Apple counts ``maxLifetime`` from the time of issue, so the last
  ///     ``issueMargin`` seconds of the longest lifetime are cut.
  ///   - now: milliseconds since 1970.
  public init(keyId: String, issuerId: String, bundleId: String, lifetime: Int64? = nil, now: Int64) throws(SigningRefusal) {
    let lifetime = lifetime ?? Self.defaultLifetime
    guard (1...Self.maxLifetime).contains(lifetime) else {
      throw SigningRefusal(field: "lifetimeSeconds", reason: "must be 1 to \(Self.maxLifetime)")
    }
    self.keyId = keyId
    self.issuerId = issuerId
    self.bundleId = bundleId
    issuedAt = now / 1000 - Self.issueMargin
    expiresAt = min(now / 1000 + lifetime, issuedAt + Self.maxLifetime)
  }

  /// True if a new token must be made at `now`, milliseconds since 1970, because less than a tenth of the lifetime or less than 60 seconds
  /// remain. For a lifetime below two minutes, half of it counts instead of the 60 seconds. Also true if our clock was set back to a time
  /// before the token's issue, because Apple would refuse the token.
  public func needsRenewal(now: Int64) -> Bool {
    let lifetime = expiresAt - issuedAt - Self.issueMargin
    return now < issuedAt * 1000 || expiresAt * 1000 - now < max(min(60_000, lifetime * 1000 / 2), lifetime * 100)
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
