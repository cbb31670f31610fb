public import WireJSON

/// A rule that a complete history follows. `SubscriptionFold+Gaps.swift` decides which rules a step breaks, ``SubscriptionHistory`` whether
/// there is silence.
public enum SubscriptionGapRule: String, Sendable, Hashable, CaseIterable {
  /// A period begins, or its end moves, without a notification that announces it.
  case periodContinuity = "period-continuity"
  /// An earlier step that the step requires is missing: there is no recovery without a failure, and no voluntary end without a
  /// cancellation.
  case entryRequired = "entry-required"
  /// The first step does not begin a subscription. The earlier part of the history is from before the app's adoption of this system, or
  /// missing.
  case unexplainedStart = "unexplained-start"
  /// A step shows a product, a renewal setting, a status or a price that no earlier step announced.
  case changedFact = "changed-fact"
  /// There was no notification after the end of the period.
  case silence

  /// The time without notifications after the end from which silence is a gap, milliseconds: a day (our choice).
  public static let silenceAfter = TimeWindow.millisecondsPerDay
}

/// A position in a history at which a notification is missing.
public struct SubscriptionGap: Sendable, Hashable {
  /// The rules that are broken.
  public let rules: [SubscriptionGapRule]
  /// The notification types that would close the gap, for people, such as `DID_FAIL_TO_RENEW` or `EXPIRED or REVOKE`.
  public let missing: String
  /// The signing time of the step before the gap, milliseconds since 1970; nil at the beginning.
  public let after: Int64?
  /// The UUID of the step that shows the gap; empty for silence.
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

  /// The gap's id, which depends only on its position in the history.
  public var id: String { "\(shownBy.isEmpty ? "\(Self.silencePrefix)\(before)" : shownBy)" }

  /// Begins the id of a gap of silence.
  static let silencePrefix = "silence:"
}

extension SubscriptionGap {
  /// The format in events, messages and responses.
  public var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "rules": .array(rules.map { .string($0.rawValue) }), "missing": .string(missing), "before": .integer(before),
      "shownBy": .string(shownBy),
    ]
    object["after"] = after.map { .integer($0) }
    return object
  }

  /// Parses ``json``; nil if it is invalid.
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
