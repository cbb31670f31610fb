/// When a dependency counts as away: not because one question went without an answer, but when none was answered for a while.
///
/// An instance that says it is not ready gets no more calls, and its callers may have no other one: a name server that loses a question
/// or a disk that is slow for a second must not have all instances say so at once.
struct DependencyOutage: Sendable {
  private let tolerance: Duration
  private var lastAnswer: ContinuousClock.Instant?

  init(tolerance: Duration) { self.tolerance = tolerance }

  /// Takes in what became of a question that was put, and says whether the dependency is away `now`.
  mutating func isAway(answered: Bool, now: ContinuousClock.Instant) -> Bool {
    if answered { lastAnswer = now }
    guard let lastAnswer else { return true }
    return !answered && now - lastAnswer >= tolerance
  }
}
