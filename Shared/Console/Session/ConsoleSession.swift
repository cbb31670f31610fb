import Cryptography
import WireJSON

/// What is kept of a reader who has signed in. The browser holds a random name of it and nothing else.
struct ConsoleSession: Sendable, Hashable {
  /// Bytes of the name, and of the secret.
  static let size = 32

  /// By it the caller is found as long as the token is valid: ``CallerDirectory/caller(ofToken:)``.
  let mark: [UInt8]
  /// What forms of the session carry, masked.
  let formSecret: [UInt8]
  /// Milliseconds since 1970.
  let endsAt: Int64

  /// A session that begins now.
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

  /// Nil for what is no session, or one that has ended.
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
