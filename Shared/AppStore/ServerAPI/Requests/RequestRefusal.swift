/// A request that Apple would refuse, or that cannot be meant: found before anything is sent.
public struct RequestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field, by the name it has in the request.
  public let field: String
  /// What would be right.
  public let reason: String

  public init(field: String, _ reason: String) {
    self.field = field
    self.reason = reason
  }

  public var description: String { "\(field): \(reason)" }
}
