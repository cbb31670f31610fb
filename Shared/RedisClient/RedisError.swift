/// Why a command failed.
public enum RedisError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There was no connection, or it ended before the reply, so the command may have been executed; with the reason.
  case unavailable(String)
  /// Redis did not reply in time, so the command may have been executed.
  case timedOut
  /// Redis refused the command; with the text of the error reply.
  case refused(String)
  /// The URL of Redis is invalid; with the reason.
  case badURL(String)
  /// A file for TLS is missing or invalid; the text names it.
  case tls(String)
  /// The file of the password is missing or invalid; the text names it.
  case passwordFile(String)
  /// Redis executed the command, but not enough replicas confirmed it in time. The loss of one host could undo the command.
  case notReplicated
  /// A reply has an unexpected format; the text names the command.
  case unexpectedReply(String)

  /// The error's label in metrics.
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
    case .notReplicated: "not enough replicas of Redis confirmed the command in time"
    case .timedOut: "Redis did not reply in time"
    case .refused(let text): "Redis refused a command: \(text)"
    case .badURL(let reason): "the Redis URL is invalid: \(reason)"
    case .tls(let reason): "TLS to Redis: \(reason)"
    case .passwordFile(let reason): reason
    case .unexpectedReply(let what): "Redis sent an unexpected reply to \(what)"
    }
  }
}
