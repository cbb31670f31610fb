import Cryptography
import WireJSON

/// The session of a reader who has signed in. The browser has only its random name.
struct ConsoleSession: Sendable, Hashable {
  /// The size of the name and of the secret, bytes.
  static let size = 32

  /// The mark by which the caller is found while its token is valid: ``CallerDirectory/caller(ofToken:)``.
  let mark: [UInt8]
  /// The secret of the session's forms, which contain it masked.
  let formSecret: [UInt8]
  /// Milliseconds since 1970.
  let endsAt: Int64

  /// A new session.
  init(mark: [UInt8], endsAt: Int64) {
    self.mark = mark
    self.endsAt = endsAt
    formSecret = RandomBytes.make(Self.size)
  }

  var json: [UInt8] {
    JSONValue.object([
      "mark": .string(Hex.encode(mark)), "form": .string(Hex.encode(formSecret)), "endsAt": .integer(endsAt),
    ]).serialized
  }

  /// Nil for an invalid or expired session.
  init?(json: [UInt8], now: Int64) {
    guard let value = try? JSONValue(parsing: json), let mark = value["mark"]?.stringValue.flatMap(Hex.decode),
      let secret = value["form"]?.stringValue.flatMap(Hex.decode), secret.count == Self.size, let endsAt = value["endsAt"]?.int64Value,
      endsAt > now
    else { return nil }
    self.mark = mark
    self.endsAt = endsAt
    formSecret = secret
  }
}
