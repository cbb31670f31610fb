public import Traces

/// An event of a worker, for metrics.
public enum WorkObservation: Sendable {
  /// A message was settled. `seconds`: the time since its work began; `waitedSeconds`: the time since its receipt.
  case processed(outcome: String, seconds: Double, waitedSeconds: Double, span: Span? = nil)
  /// Another worker took over a message that this worker was processing, or a shard that it owned.
  case leaseLost
  /// This many messages of dead workers were reclaimed; where shards are owned, this many shards.
  case reclaimed(Int)
}
