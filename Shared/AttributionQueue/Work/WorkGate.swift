/// Says how much work may be begun, where that depends on more than the worker: another system's limits, its health.
public protocol WorkGate: Sendable {
  /// How many messages may be taken now, up to `most`, at least one when any may.
  func admit(_ most: Int) async -> WorkAdmission
}

/// A gate's answer.
public enum WorkAdmission: Sendable, Hashable {
  case some(Int)
  /// None; worth asking again after the wait.
  case wait(Duration)
}
