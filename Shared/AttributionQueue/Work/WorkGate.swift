/// Decides how much work may begin, if that depends on another system's limits or health.
public protocol WorkGate: Sendable {
  /// Admits up to `limit` messages, and at least one if any may begin.
  func admit(_ limit: Int) async -> WorkAdmission
}

/// A gate's answer.
public enum WorkAdmission: Sendable, Hashable {
  case some(Int)
  /// None may begin; ask again after this time.
  case wait(Duration)
}
