public import RedisClient

/// Why a question to the feed has no answer.
public enum EventFeedError: Error, Sendable, Hashable {
  case unknownSubscription
  /// A subscription of this name exists that asks for something else.
  case differs
  /// The event to begin with is not kept.
  case unknownEvent
  /// The subscription is pushed, and cannot be pulled.
  case isPushed
  /// The subscription is pulled, and has no endpoint.
  case isPulled
  /// Others change the subscription all the time.
  case contended
  case unavailable(RedisError)
}
