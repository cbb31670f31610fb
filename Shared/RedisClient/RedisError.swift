/// Why a command has no answer.
public enum RedisError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No connection, or it broke before the answer came: the command may or may not have been executed.
  case unavailable(String)
  /// Redis did not answer in time.
  case timedOut
  /// Redis refused the command; its own words.
  case refused(String)
  /// The address of the Redis is not one.
  case badURL(String)
  /// An answer of an unexpected form.
  case unexpectedReply(String)

  public var description: String {
    switch self {
    case .unavailable(let reason): "Redis is unavailable: \(reason)"
    case .timedOut: "Redis did not answer in time"
    case .refused(let text): "Redis refused a command: \(text)"
    case .badURL(let reason): "not a Redis URL: \(reason)"
    case .unexpectedReply(let what): "Redis answered unexpectedly to \(what)"
    }
  }
}
