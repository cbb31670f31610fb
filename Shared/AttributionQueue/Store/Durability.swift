/// The failures that a delivery survives once it was answered with status 200.
///
/// If Redis does not confirm in time, the accept throws ``QueueError/unavailable(_:)``, and ingest answers 503, or 500 to postbacks
/// (`PublicHTTPResponse.notAccepted` and `PublicRoute.retryStatus` in ingest). The sender then repeats the delivery.
public enum Durability: String, Sendable, Hashable, CaseIterable {
  /// A crash of any process. Redis syncs its append-only file every second.
  case process
  /// A loss of power. Redis syncs every write before it replies.
  case disk
  /// The loss of a host. In addition to the sync, replicas confirm the write before the delivery is answered.
  case replicated

  /// The values of Redis' `appendfsync` that suffice.
  var fsyncPolicies: [String] { self == .process ? ["everysec", "always"] : ["always"] }
}
