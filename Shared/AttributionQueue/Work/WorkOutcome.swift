/// What a handler makes of a message.
///
/// A message that keeps its order (``AcceptRequest/keepsOrder``) waits for others of its order key only if the handler answers
/// ``inOrder(_:)``. Every other outcome is settled at once, whatever of its order key is unfinished: what is not proved may name any order
/// key, and waits for nobody and holds nobody up.
public enum WorkOutcome: Sendable {
  case complete(Completion)
  /// Again later; nil leaves the time to the queue's backoff.
  case retry(after: Duration?, error: String)
  /// Again later, no attempt counted and nothing added to the history: it is not its turn yet.
  case wait(Duration)
  case deadLetter(error: String)
  /// Back to the queue untouched, no attempt counted: what its work needs is not to be had now.
  case giveBack
  /// The message is proved, and what becomes of it depends on those of its order key that were accepted before. `apply` is called when all
  /// of these are finished, which may be after the handler was called for the message again. Applied at once where it keeps no order.
  case inOrder(_ apply: @Sendable () async -> WorkOutcome)
  /// Again when `work` has ended, which may take long, or after `atMost`; no attempt counted. The message leaves the others' way at once and
  /// `work` runs beside them. It is not run where too much of this is under way, nor to its end where the worker ends before it.
  case deferred(atMost: Duration, while: @Sendable () async -> Void)
}
