/// Decides how many messages a ``DeadlineWorker`` may begin to process, if that depends on the limits or the health of another system.
public protocol WorkGate: Sendable {
  /// Admits up to `limit` messages: at least one if processing may begin at all.
  func admit(_ limit: Int) async -> WorkAdmission
}

/// How many messages a ``WorkGate`` admits.
public enum WorkAdmission: Sendable, Hashable {
  case some(Int)
  /// None; the worker queries the gate again after this time.
  case wait(Duration)
}
