/// Decides when a dependency counts as unavailable: before its first successful check, and when checks have failed for as long as the
/// tolerance. A single failed check is not enough.
///
/// An instance that is not ready gets no calls, and all instances share the dependency. A lost DNS query or a slow disk must not make all
/// instances unready at once.
struct DependencyOutage: Sendable {
  private let tolerance: Duration
  private var lastSuccess: ContinuousClock.Instant?

  init(tolerance: Duration) { self.tolerance = tolerance }

  /// Records the result of a check. Returns true if the dependency counts as unavailable.
  mutating func isUnavailable(answered: Bool, now: ContinuousClock.Instant) -> Bool {
    if answered { lastSuccess = now }
    guard let lastSuccess else { return true }
    return !answered && now - lastSuccess >= tolerance
  }
}
