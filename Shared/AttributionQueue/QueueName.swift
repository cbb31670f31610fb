/// The queues, one a stage.
public enum QueueName: String, Sendable, Hashable, CaseIterable {
  /// Postbacks and notifications, worked by verifier.
  case intake
  /// AdServices tokens, worked by asa-token-broker.
  case tokens
  /// SDK sessions, worked by ingest.
  case sessions

  /// Whether its messages have deadlines and a ``DeadlineWorker`` works them.
  var isWorkedByDeadline: Bool { self == .tokens }
}
