/// Decides when a dependency counts as unavailable: when no check succeeded for a time, not after a single failed check.
///
/// An instance that is not ready gets no calls, and all instances share the dependency. One lost DNS query or a slow disk must not make all
/// of them unready at once.
struct DependencyOutage: Sendable {
  private let tolerance: Duration
  private var lastAnswer: ContinuousClock.Instant?

  init(tolerance: Duration) { self.tolerance = tolerance }

  /// Records the result of a check, and returns true if the dependency counts as unavailable.
  mutating func isAway(answered: Bool, now: ContinuousClock.Instant) -> Bool {
    if answered { lastAnswer = now }
    guard let lastAnswer else { return true }
    return !answered && now - lastAnswer >= tolerance
  }
}
