public import WireJSON

/// The rule by which a history is incomplete. The rules are decided in SubscriptionFold+Gaps, silence in ``SubscriptionHistory``.
public enum SubscriptionGapRule: String, Sendable, Hashable, CaseIterable {
  /// A period begins or ends without an announcement.
  case periodContinuity = "period-continuity"
  /// A required earlier step is missing: no recovery without a failure, no voluntary end without a cancellation.
  case entryRequired = "entry-required"
  /// The first step is not a beginning: it has earlier history, or there is a gap.
  case unexplainedStart = "unexplained-start"
  /// A step shows a product, a renewal setting, a status or a price that was not announced.
  case changedFact = "changed-fact"
  /// There was no notification after the end.
  case silence

  /// The time after the end from which silence is a gap, milliseconds: a day (our choice).
  public static let silenceAfter = TimeWindow.millisecondsPerDay
}

/// A position in a history at which a notification is missing.
public struct SubscriptionGap: Sendable, Hashable {
  public let rules: [SubscriptionGapRule]
  /// The notification types that would close it: `DID_FAIL_TO_RENEW`, `EXPIRED or REVOKE`.
  public let missing: String
  /// The signing time of the step before it, milliseconds since 1970; nil at the beginning.
  public let after: Int64?
  /// The UUID of the step that shows it; empty for silence.
  public let shownBy: String
  /// The signing time of that step, or for silence the end of the period; milliseconds since 1970.
  public let before: Int64

  public init(rules: [SubscriptionGapRule], missing: String, after: Int64?, shownBy: String, before: Int64) {
    self.rules = rules
    self.missing = missing
    self.after = after
    self.shownBy = shownBy
    self.before = before
  }

  /// The id, which depends only on the position.
  public var id: String { "\(shownBy.isEmpty ? "\(Self.silencePrefix)\(before)" : shownBy)" }

  static let silencePrefix = "silence:"
}

extension SubscriptionGap {
  /// The form in events, messages and responses.
  public var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "rules": .array(rules.map { .string($0.rawValue) }), "missing": .string(missing), "before": .integer(before),
      "shownBy": .string(shownBy),
    ]
    object["after"] = after.map { .integer($0) }
    return object
  }

  /// Parses that form; nil if it is invalid.
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
