import Cryptography

/// The common rules for signatures that are passed to an app (app-side offers). Each throws ``SigningRefusal`` with the field's name.
enum OfferRules {
  /// The longest identifier, bytes.
  static let maxTextBytes = 1024

  /// A required text: not empty, of limited length, without control characters, and without U+2063, which could move content between
  /// fields.
  static func text(_ value: String?, _ field: String) throws(SigningRefusal) -> String {
    guard let value, !value.isEmpty else { throw SigningRefusal(field: field, reason: "is required") }
    return try bounded(value, field)
  }

  /// The same for a text that may be empty.
  static func bounded(_ value: String, _ field: String) throws(SigningRefusal) -> String {
    guard value.utf8.count <= maxTextBytes else { throw SigningRefusal(field: field, reason: "is longer than \(maxTextBytes) bytes") }
    guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x2063 }) else {
      throw SigningRefusal(field: field, reason: "contains U+2063 or a control character")
    }
    return value
  }

  /// A UUID with hyphens, returned in lower case.
  static func uuid(_ value: String, _ field: String) throws(SigningRefusal) -> String {
    guard UUIDText.isValid(value) else { throw SigningRefusal(field: field, reason: "must be a UUID") }
    return value.lowercased()
  }
}

/// An invalid value for a signature: the field, and what would be right.
public struct SigningRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field's name in the request.
  public let field: String
  /// Short, English; never the value itself.
  public let reason: String

  public init(field: String, reason: String) {
    self.field = field
    self.reason = reason
  }

  public var description: String { "\(field): \(reason)" }
}
