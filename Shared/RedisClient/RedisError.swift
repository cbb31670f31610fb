/// Why a command failed.
public enum RedisError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There was no connection, or it ended before the reply. The command may have been executed.
  case unavailable(String)
  /// Redis did not answer in time.
  case timedOut
  /// Redis refused the command; the text of the error reply.
  case refused(String)
  /// The URL of Redis is invalid.
  case badURL(String)
  /// A file for TLS is missing or invalid; the text names it.
  case tls(String)
  /// The password's file is missing or invalid; the text names it.
  case passwordFile(String)
  /// Redis executed the command, but not enough replicas confirmed it in time, so the loss of one host could undo it.
  case notReplicated
  /// A reply has an unexpected form; the text names the command.
  case unexpectedReply(String)

  /// The label in metrics.
  public var kind: String {
    switch self {
    case .unavailable: "unavailable"
    case .timedOut: "timed_out"
    case .refused: "refused"
    case .badURL: "bad_url"
    case .tls: "tls"
    case .passwordFile: "password_file"
    case .notReplicated: "not_replicated"
    case .unexpectedReply: "unexpected_reply"
    }
  }

  public var description: String {
    switch self {
    case .unavailable(let reason): "Redis is unavailable: \(reason)"
    case .notReplicated: "the replicas of Redis did not confirm in time"
    case .timedOut: "Redis did not answer in time"
    case .refused(let text): "Redis refused a command: \(text)"
    case .badURL(let reason): "not a Redis URL: \(reason)"
    case .tls(let reason): "TLS to Redis: \(reason)"
    case .passwordFile(let reason): reason
    case .unexpectedReply(let what): "Redis answered unexpectedly to \(what)"
    }
  }
}
