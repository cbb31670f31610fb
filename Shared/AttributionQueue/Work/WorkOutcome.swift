/// A handler's decision about a message.
///
/// A message that keeps its order (``AcceptRequest/keepsOrder``) waits for earlier messages of its order key only if the handler returns
/// ``inOrder(_:)``. Every other outcome is settled without waiting: an unverified message may name any order key, so it must neither wait
/// nor block.
public enum WorkOutcome: Sendable {
  case complete(Completion)
  /// Retry after this time, without a limit of attempts. Nil means the queue's backoff, and a dead letter after
  /// ``QueueConfiguration/maxAttempts`` attempts.
  case retry(after: Duration?, error: String)
  /// Try again after this time; nothing runs meanwhile. No attempt is counted and nothing is added to the history. The message is delayed,
  /// so its shard works other messages, except later ones of its order line.
  case wait(Duration)
  case deadLetter(error: String)
  /// Return the message to the queue unchanged, because a dependency of its work is unavailable now. No attempt is counted.
  case giveBack
  /// The message is verified, and its outcome depends on earlier messages of its order key. `apply` is called when all of them are
  /// finished; before that, the handler may be called for the message again. A message that keeps no order is applied at once.
  case inOrder(_ apply: @Sendable () async -> WorkOutcome)
  /// Try again when `work` has ended, which may take long, or after `atMost`. No attempt is counted. The message is delayed as by
  /// ``wait(_:)``, and `work` runs beside the shard; a handler that awaited it would block the shard. `work` does not run if too many
  /// deferred jobs are running, and is cancelled when the worker ends. A ``DeadlineWorker`` awaits it, which blocks no other message.
  case deferred(atMost: Duration, while: @Sendable () async -> Void)
}
