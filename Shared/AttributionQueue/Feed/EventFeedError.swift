public import RedisClient

/// Why an operation on the feed failed.
public enum EventFeedError: Error, Sendable, Hashable {
  /// No subscription has this name.
  case unknownSubscription
  /// A subscription with this name and other settings exists.
  case differs
  /// The event to start from does not exist.
  case unknownEvent
  /// The subscription is pushed and cannot be pulled.
  case isPushed
  /// The subscription is pulled and has no endpoint.
  case isPulled
  /// The subscription was changed concurrently too often.
  case contended
  /// Redis is unavailable, slow or refuses to write.
  case unavailable(RedisError)
}
