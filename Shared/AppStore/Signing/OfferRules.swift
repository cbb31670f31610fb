import Cryptography

/// The rules for texts that are signed for an app: in promotional offers, and in the JWS that the app passes to StoreKit. Each throws
/// ``SigningRefusal`` with the field's name.
enum OfferRules {
  /// The longest identifier, bytes.
  static let maxTextBytes = 1024

  /// A required text: not empty, of limited length, and without control characters. U+2063 separates the fields of a promotional offer, so
  /// it is refused too; otherwise a part of one field could pass as another field.
  static func text(_ value: String?, _ field: String) throws(SigningRefusal) -> String {
    guard let value, !value.isEmpty else { throw SigningRefusal(field: field, reason: "is required") }
    return try optionalText(value, field)
  }

  /// A text that may be empty, with the other rules of ``text(_:_:)``.
  static func optionalText(_ value: String, _ field: String) throws(SigningRefusal) -> String {
    guard value.utf8.count <= maxTextBytes else { throw SigningRefusal(field: field, reason: "is longer than \(maxTextBytes) bytes") }
    guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x2063 }) else {
      throw SigningRefusal(field: field, reason: "must not contain U+2063 or a control character")
    }
    return value
  }

  /// A UUID with hyphens, returned in lower case.
  static func uuid(_ value: String, _ field: String) throws(SigningRefusal) -> String {
    guard UUIDText.isValid(value) else { throw SigningRefusal(field: field, reason: "must be a UUID") }
    return value.lowercased()
  }
}

/// A value that cannot be signed: its field, and what is wrong.
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
