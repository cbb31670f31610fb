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
