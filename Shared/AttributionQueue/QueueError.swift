public import RedisClient

/// Why an operation on a queue failed.
public enum QueueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Redis is unavailable, slow or refuses to write.
  case unavailable(RedisError)
  /// The backlog has reached its bound.
  case backlogFull
  /// Another worker holds the message now.
  case leaseLost
  /// The store has a form that this build does not know.
  case unknownForm(String)
  /// Redis is configured so that data could be lost. The text says what is wrong and how to correct it.
  case unsafeRedis(String)

  public var description: String {
    switch self {
    case .unavailable(let error): "\(error)"
    case .backlogFull: "the queue is full"
    case .leaseLost: "another worker has taken over the message"
    case .unsafeRedis(let what): what
    case .unknownForm(let form):
      "what lies in Redis has form \(form), and this build knows forms \(StoreForm.allCases.map { "\($0.rawValue)" }.joined(separator: " and ")): "
        + "start a newer build, or have the one that set it go back to form \(StoreForm.newest.rawValue) first (SetStoreForm)"
    }
  }
}
