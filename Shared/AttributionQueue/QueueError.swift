public import RedisClient

/// Why a step of the queue was not done.
public enum QueueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Redis is away, slow or refuses to write.
  case unavailable(RedisError)
  /// The backlog has reached its bound.
  case backlogFull
  /// Another worker holds the message now.
  case leaseLost
  /// The Redis is set up so that something could get lost; what and how to mend it.
  case unsafeRedis(String)

  public var description: String {
    switch self {
    case .unavailable(let error): "\(error)"
    case .backlogFull: "the queue is full"
    case .leaseLost: "another worker has taken the message over"
    case .unsafeRedis(let what): what
    }
  }
}
