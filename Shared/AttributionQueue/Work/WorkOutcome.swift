/// A handler's decision about a message.
///
/// A message that keeps its order (``AcceptRequest/keepsOrder``) waits for earlier messages of its order key only if the handler returns
/// ``inOrder(_:)``. Every other outcome is settled without waiting: an unverified message may name any order key, so it must neither wait
/// nor block.
public enum WorkOutcome: Sendable {
  /// The message is finished: publish its events, write its record, and remove it from the queue.
  case complete(Completion)
  /// The attempt failed: try again after this time, without a limit of attempts. If `after` is nil, the queue's backoff decides the time,
  /// and the message becomes a dead letter after ``QueueConfiguration/maxAttempts`` attempts.
  case retry(after: Duration?, error: String)
  /// Try again after this time; nothing runs meanwhile. No attempt is counted, and nothing is added to the history. The message is delayed,
  /// so the worker processes other messages of the shard, except later ones of the same order line.
  case wait(Duration)
  /// The message failed permanently: make it a dead letter.
  case deadLetter(error: String)
  /// Return the message to the queue unchanged, because the handler depends on something that is unavailable now. No attempt is counted.
  case giveBack
  /// The message is verified, and its outcome depends on earlier messages of its order key. `apply` is called when all of them are
  /// finished; before that, the handler may be called for the message again. A message that keeps no order is applied at once.
  case inOrder(_ apply: @Sendable () async -> WorkOutcome)
  /// Try again when `work` has ended, which may take long, or after `atMost`. No attempt is counted. The message is delayed as by
  /// ``wait(_:)``, and `work` runs concurrently with the shard's messages, which a handler that awaited it would block. `work` does not run
  /// if too many such jobs are running (``DeferredWork``), and it is cancelled when the worker ends. A ``DeadlineWorker`` awaits `work`
  /// instead, because that blocks no other message there.
  case deferred(atMost: Duration, while: @Sendable () async -> Void)
}
