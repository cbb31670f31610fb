/// A message whose handler has completed it.
final class CompletedWork: Sendable {
  let lease: LeasedMessage
  let completion: Completion
  /// When its work began.
  let started: ContinuousClock.Instant

  init(_ lease: LeasedMessage, _ completion: Completion, started: ContinuousClock.Instant = .now) {
    self.lease = lease
    self.completion = completion
    self.started = started
  }
}
