/// What happened to a worker's messages, for metrics.
public enum WorkObservation: Sendable {
  /// `seconds`: from the beginning of its work; `waitedSeconds`: from its receipt; both to the end of its work.
  case processed(outcome: String, seconds: Double, waitedSeconds: Double)
  /// Another took over what it had begun.
  case leaseLost
  /// What a worker that died has left was taken over: so many messages, or shards where these are owned.
  case reclaimed(Int)
}

/// What a handler makes of a message.
public enum WorkOutcome: Sendable {
  case complete(Completion)
  /// Again later; nil leaves the time to the queue's backoff.
  case retry(after: Duration?, error: String)
  /// Again later, no attempt counted and nothing added to the history: it is not its turn yet.
  case wait(Duration)
  case deadLetter(error: String)
  /// Back to the queue untouched, no attempt counted: what its work needs is not to be had now.
  case giveBack
}
