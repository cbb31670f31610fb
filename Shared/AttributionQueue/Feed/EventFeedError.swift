public import RedisClient

/// Why an operation on the feed failed.
public enum EventFeedError: Error, Sendable, Hashable {
  case unknownSubscription
  /// A subscription with this name and other settings exists.
  case differs
  /// The event to start from is no longer kept.
  case unknownEvent
  /// The subscription is pushed, and cannot be pulled.
  case isPushed
  /// The subscription is pulled, and has no endpoint.
  case isPulled
  /// Concurrent changes of the subscription did not stop.
  case contended
  case unavailable(RedisError)
}
