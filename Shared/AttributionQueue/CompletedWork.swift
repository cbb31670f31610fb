/// What is left to be known of a message whose handler has completed it, when what the handler decided stands in a ``CompletionCall``.
struct CompletedWork: Sendable {
  let lease: LeasedMessage
  /// When its work began.
  let started: ContinuousClock.Instant
  /// The outcome's word in metrics.
  let word: String
  /// ``Completion/whenSeen``.
  let whenSeen: (@Sendable () async -> WorkOutcome)?
}
