/// The queues, one per stage of processing.
public enum QueueName: String, Sendable, Hashable, CaseIterable {
  /// Postbacks and notifications, worked by verifier.
  case intake
  /// AdServices tokens, worked by asa-token-broker.
  case tokens
  /// SDK sessions, worked by ingest.
  case sessions
  /// Gaps in subscriptions' histories and their outcomes, worked by notification-recovery.
  case gaps
  /// Receipts that are migrated, worked by notification-recovery.
  case migrations
  /// Reports of external purchases for Apple, worked by notification-recovery.
  case reports

  /// The index of the queue among all queues, from zero.
  var index: Int {
    switch self {
    case .intake: 0
    case .tokens: 1
    case .sessions: 2
    case .gaps: 3
    case .migrations: 4
    case .reports: 5
    }
  }

  /// True if the messages have deadlines and a ``DeadlineWorker`` works them.
  var isWorkedByDeadline: Bool { self == .tokens }
}
