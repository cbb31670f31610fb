/// How a delivery ended, as it is counted.
public struct CountedOutcome: Sendable, Hashable {
  /// The message's kind.
  public var kind: String
  /// verified, rejected, duplicate, done or dead.
  public var verdict: String
  /// Why it was rejected.
  public var reason: String?

  public init(kind: String, verdict: String, reason: String? = nil) {
    self.kind = kind
    self.verdict = verdict
    self.reason = reason
  }

  /// The counter's field. All parts are words of ours, without the sign between them.
  var field: String { "d|\(kind)|\(verdict)|\(reason ?? "")" }

  /// Reads a field; nil for what is none.
  init?(field: String) {
    let parts = field.split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "d" else { return nil }
    self.init(kind: String(parts[1]), verdict: String(parts[2]), reason: parts[3].isEmpty ? nil : String(parts[3]))
  }
}
