/// An invalid value: its field and what is wrong, or what would be right.
public struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field's name in the request or the configuration; empty for the whole document.
  public let field: String
  /// What is wrong: a short English text, which never contains a token or another secret.
  public let reason: String

  public init(field: String, reason: String) {
    self.field = field
    self.reason = reason
  }

  public var description: String { field.isEmpty ? reason : "\(field): \(reason)" }
}
