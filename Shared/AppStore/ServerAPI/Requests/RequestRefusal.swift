/// An error in a request for Apple that is found before the request is sent: Apple would refuse it, or the caller has surely made a
/// mistake.
public struct RequestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field's name in the request.
  public let field: String
  /// What is wrong, or what would be right.
  public let reason: String

  public init(field: String, _ reason: String) {
    self.field = field
    self.reason = reason
  }

  public var description: String { "\(field): \(reason)" }
}
