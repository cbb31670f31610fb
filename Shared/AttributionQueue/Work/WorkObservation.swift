public import Traces

/// What happened to a worker's messages, for metrics.
public enum WorkObservation: Sendable {
  /// `seconds`: from the beginning of its work; `waitedSeconds`: from its receipt; both to the end of its work.
  case processed(outcome: String, seconds: Double, waitedSeconds: Double, span: Span? = nil)
  /// Another took over what it had begun.
  case leaseLost
  /// What a worker that died has left was taken over: so many messages, or shards where these are owned.
  case reclaimed(Int)
}
