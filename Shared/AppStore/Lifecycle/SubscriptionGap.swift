/// Why a history cannot be whole.
public enum SubscriptionGapRule: String, Sendable, Hashable, CaseIterable {
  /// A period begins or ends where no step announced it.
  case periodContinuity = "period-continuity"
  /// A step needs another one before it: no recovery without a failure, no voluntary end without a cancellation.
  case entryRequired = "entry-required"
  /// The first thing seen is not a beginning: history from before, or a gap.
  case unexplainedStart = "unexplained-start"
  /// A step shows a product or a renewal setting that none announced.
  case changedFact = "changed-fact"
  /// Nothing came past the end.
  case silence
}

/// A place in a history where a notification is missing.
public struct SubscriptionGap: Sendable, Hashable {
  public let rules: [SubscriptionGapRule]
  /// The signing time of the step before it, milliseconds since 1970; nil at the beginning.
  public let after: Int64?
  /// The step that shows it; empty for silence.
  public let shownBy: String
  public let before: Int64

  /// The same place has the same name, however often it is found.
  public var id: String { "\(shownBy.isEmpty ? "silence:\(before)" : shownBy)" }
}
