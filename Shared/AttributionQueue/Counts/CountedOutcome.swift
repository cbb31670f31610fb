/// The outcome of a delivery as it is counted.
public struct CountedOutcome: Sendable, Hashable {
  /// The message's kind.
  public var kind: String
  /// `verified`, `rejected`, `duplicate`, `done` or `dead`.
  public var verdict: String
  /// Why the delivery was rejected; nil if it was not.
  public var reason: String?

  public init(kind: String, verdict: String, reason: String? = nil) {
    self.kind = kind
    self.verdict = verdict
    self.reason = reason
  }

  /// The outcome's name in a hash of counts. The parts come from fixed sets and never contain the separator.
  var field: String { "d|\(kind)|\(verdict)|\(reason ?? "")" }

  /// Parses a field; nil if it is invalid.
  init?(field: String) {
    let parts = field.split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "d" else { return nil }
    self.init(kind: String(parts[1]), verdict: String(parts[2]), reason: parts[3].isEmpty ? nil : String(parts[3]))
  }
}
