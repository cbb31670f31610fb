import Cryptography
import WireJSON

/// The session of a user who has signed in, as Redis stores it. The user's browser stores only the session's random name, in a cookie.
struct ConsoleSession: Sendable, Hashable {
  /// The size of the name and of the secret, bytes.
  static let size = 32

  /// The fingerprint of the caller's token, by which `CallerDirectory` finds the caller as long as the token is valid.
  let fingerprint: [UInt8]
  /// The secret that the session's forms contain, masked by ``FormToken``.
  let formSecret: [UInt8]
  /// Milliseconds since 1970.
  let endsAt: Int64

  /// A new session, with a new secret.
  init(fingerprint: [UInt8], endsAt: Int64) {
    self.fingerprint = fingerprint
    self.endsAt = endsAt
    formSecret = RandomBytes.make(Self.size)
  }

  /// The session as it is stored. The member `mark` is the fingerprint.
  var json: [UInt8] {
    JSONValue.object([
      "mark": .string(Hex.encode(fingerprint)), "form": .string(Hex.encode(formSecret)), "endsAt": .integer(endsAt),
    ]).serialized
  }

  /// Nil for an invalid or expired session.
  init?(json: [UInt8], now: Int64) {
    guard let value = try? JSONValue(parsing: json), let fingerprint = value["mark"]?.stringValue.flatMap(Hex.decode),
      let secret = value["form"]?.stringValue.flatMap(Hex.decode), secret.count == Self.size, let endsAt = value["endsAt"]?.int64Value,
      endsAt > now
    else { return nil }
    self.fingerprint = fingerprint
    self.endsAt = endsAt
    formSecret = secret
  }
}
