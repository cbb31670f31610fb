public import Traces

/// An event in a worker's life, for metrics.
public enum WorkObservation: Sendable {
  /// A message was settled. `seconds`: the time since its work began; `waitedSeconds`: the time since its receipt.
  case processed(outcome: String, seconds: Double, waitedSeconds: Double, span: Span? = nil)
  /// Another worker took over a message that this one had begun.
  case leaseLost
  /// Messages of a dead worker were reclaimed, or shards where these are owned.
  case reclaimed(Int)
}
