public import Traces

/// Something that happened in a worker, for metrics.
public enum WorkObservation: Sendable {
  /// A message was settled. `outcome`: the value of the label `outcome`; `seconds`: the time since its handler was called; `waitedSeconds`:
  /// the time since its receipt.
  case processed(outcome: String, seconds: Double, waitedSeconds: Double, span: Span? = nil)
  /// Another worker has taken a message that this worker was processing, or a shard that it owned.
  case leaseLost
  /// This worker has taken this many messages whose leases expired, or this many shards of workers that ended without giving them back.
  case reclaimed(Int)
  /// This many bodies of rejected deliveries were dropped because of the limit ``QueueConfiguration/rejectedBytes``.
  case rejectedBodiesDropped(Int)
}
