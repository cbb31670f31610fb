/// Why a postback or an impression is rejected: the reason, the field and an explanation.
public struct PostbackRejection: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: PostbackReason
  /// The field's name in the postback or the request; nil if the reason is not about a field.
  public let field: String?
  /// What is wrong, as text for people. It never contains the value.
  public let explanation: String

  public init(_ reason: PostbackReason, field: String? = nil, _ explanation: String) {
    self.reason = reason
    self.field = field
    self.explanation = explanation
  }

  public var description: String { field.map { "\(reason.rawValue) (\($0)): \(explanation)" } ?? "\(reason.rawValue): \(explanation)" }
}
