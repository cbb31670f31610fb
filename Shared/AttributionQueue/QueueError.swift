public import RedisClient

/// Why an operation on a queue failed.
public enum QueueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Redis is unavailable, slow or refuses to write.
  case unavailable(RedisError)
  /// The shard of the message has reached its part of ``QueueConfiguration/backlogBound``.
  case backlogFull
  /// Another worker owns the shard now, or has leased the message.
  case leaseLost
  /// The store has a form that this build does not know.
  case unknownForm(String)
  /// Redis is configured so that it could lose data. The text says what is wrong and how to correct it.
  case unsafeRedis(String)

  public var description: String {
    switch self {
    case .unavailable(let error): "\(error)"
    case .backlogFull: "the queue is full"
    case .leaseLost: "another worker has taken over the message"
    case .unsafeRedis(let what): what
    case .unknownForm(let form):
      "the data in Redis has form \(form), and this build knows forms "
        + StoreForm.allCases.map { "\($0.rawValue)" }.joined(separator: " and ")
        + ": start a newer build, or first set form \(StoreForm.newest.rawValue) with the build that set this one (SetStoreForm)"
    }
  }
}
