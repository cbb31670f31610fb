public import RedisClient

/// Why an operation on the feed failed.
public enum EventFeedError: Error, Sendable, Hashable {
  case unknownSubscription
  /// A subscription with this name and other settings exists.
  case differs
  /// The event to start from does not exist.
  case unknownEvent
  /// The subscription is pushed, and cannot be pulled.
  case isPushed
  /// The subscription is pulled, and has no endpoint.
  case isPulled
  /// The subscription was changed concurrently too often.
  case contended
  case unavailable(RedisError)
}
