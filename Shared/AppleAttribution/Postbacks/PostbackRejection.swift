/// A rejected postback, with the reason.
public struct PostbackRejection: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: PostbackReason
  /// The field, under Apple's name, if the reason is about one.
  public let field: String?
  /// What is wrong; never the value itself.
  public let explanation: String

  public init(_ reason: PostbackReason, field: String? = nil, _ explanation: String) {
    self.reason = reason
    self.field = field
    self.explanation = explanation
  }

  public var description: String { field.map { "\(reason.rawValue) (\($0)): \(explanation)" } ?? "\(reason.rawValue): \(explanation)" }
}
