/// An invalid value: the field, by its name on the wire, and what would be right.
public struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field's name on the wire; empty for the whole document.
  public let field: String
  /// Short, English; never the value itself.
  public let reason: String

  public init(field: String, reason: String) {
    self.field = field
    self.reason = reason
  }

  public var description: String { field.isEmpty ? reason : "\(field): \(reason)" }
}
