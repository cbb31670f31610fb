import WireJSON

/// Checks whether Apple would accept the JSON Web Token of a request (*Generating JSON Web Tokens for API requests*).
struct TokenCheck: Sendable {
  /// The maximum time between `iat` and `exp`, in seconds.
  static let maxLifetime: Int64 = 3600

  let apps: AppRegistry

  /// The app to whose data the token gives access; nil if the token is invalid and the answer is 401.
  func app(authorization: String?, environment: AppStoreEnvironment, now milliseconds: Int64) -> SimulatedApp? {
    guard let authorization, authorization.hasPrefix("Bearer ") else { return nil }
    let parts = authorization.dropFirst(7).split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    guard parts.count == 3, let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64Text.decodeURL(parts[2]),
      head["alg"]?.stringValue == "ES256", head["typ"]?.stringValue == "JWT", let kid = head["kid"]?.stringValue,
      let key = apps.key(kid), key.key.verifies(raw: signature, of: Array((parts[0] + "." + parts[1]).utf8))
    else { return nil }
    let now = milliseconds / 1000
    guard claims["iss"]?.stringValue == key.issuerID, claims["aud"]?.stringValue == "appstoreconnect-v1",
      let expires = claims["exp"]?.int64Value, expires > now, let bundleID = claims["bid"]?.stringValue
    else { return nil }
    if let issued = claims["iat"] {
      guard let issued = issued.int64Value, issued <= now, expires - issued <= Self.maxLifetime else { return nil }
    } else if expires - now > Self.maxLifetime {
      return nil
    }
    guard let app = apps.app(bundleID), app.keys.contains(where: { $0.issuerID == key.issuerID }),
      app.isReleased || environment == .sandbox
    else { return nil }
    return app
  }

  private static func object(_ part: String) -> JSONObject? {
    guard let bytes = Base64Text.decodeURL(part) else { return nil }
    return (try? JSONValue(parsing: bytes))?.objectValue
  }
}
