/// A message whose handler has completed it.
final class CompletedWork: Sendable {
  let lease: LeasedMessage
  let completion: Completion
  /// When its work began, and how many seconds it had waited for it.
  let started: ContinuousClock.Instant
  let waited: Double

  init(_ lease: LeasedMessage, _ completion: Completion, started: ContinuousClock.Instant = .now, waited: Double = 0) {
    self.lease = lease
    self.completion = completion
    self.started = started
    self.waited = waited
  }
}
