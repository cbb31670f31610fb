public import WireJSON

/// Why a history cannot be whole.
public enum SubscriptionGapRule: String, Sendable, Hashable, CaseIterable {
  /// A period begins or ends where no step announced it.
  case periodContinuity = "period-continuity"
  /// A step needs another one before it: no recovery without a failure, no voluntary end without a cancellation.
  case entryRequired = "entry-required"
  /// The first thing seen is not a beginning: history from before, or a gap.
  case unexplainedStart = "unexplained-start"
  /// A step shows a product, a renewal setting, a status or a price that none announced.
  case changedFact = "changed-fact"
  /// Nothing came past the end.
  case silence
}

/// A place in a history where a notification is missing.
public struct SubscriptionGap: Sendable, Hashable {
  public let rules: [SubscriptionGapRule]
  /// What would explain it, as notification types: `DID_FAIL_TO_RENEW`, `EXPIRED or REVOKE`.
  public let missing: String
  /// The signing time of the step before it, milliseconds since 1970; nil at the beginning.
  public let after: Int64?
  /// The step that shows it; empty for silence.
  public let shownBy: String
  /// The signing time of that step, or the end past which nothing came; milliseconds since 1970.
  public let before: Int64

  public init(rules: [SubscriptionGapRule], missing: String, after: Int64?, shownBy: String, before: Int64) {
    self.rules = rules
    self.missing = missing
    self.after = after
    self.shownBy = shownBy
    self.before = before
  }

  /// The same place has the same name, however often it is found.
  public var id: String { "\(shownBy.isEmpty ? "\(Self.silencePrefix)\(before)" : shownBy)" }

  static let silencePrefix = "silence:"
}

extension SubscriptionGap {
  /// As events, messages and answers carry it.
  public var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "rules": .array(rules.map { .string($0.rawValue) }), "missing": .string(missing), "before": .integer(before),
      "shownBy": .string(shownBy),
    ]
    object["after"] = after.map { .integer($0) }
    return object
  }

  /// Reads that form; nil for anything else.
  public init?(json object: JSONObject) {
    guard let rules = object["rules"]?.arrayValue, let before = object["before"]?.int64Value,
      let shownBy = object["shownBy"]?.stringValue
    else { return nil }
    self.init(
      rules: rules.compactMap { $0.stringValue.flatMap(SubscriptionGapRule.init) }, missing: object["missing"]?.stringValue ?? "",
      after: object["after"]?.int64Value, shownBy: shownBy, before: before)
    guard !self.rules.isEmpty else { return nil }
  }
}
