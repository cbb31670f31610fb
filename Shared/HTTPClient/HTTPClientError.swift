/// Why there is no response. The description never contains a header or a body, so it can be logged.
public enum HTTPClientError: Error, Sendable, Hashable, CustomStringConvertible {
  case badURL
  case timedOut
  /// There was no connection, so nothing was sent.
  case couldNotConnect(String)
  case tls(String)
  /// The connection broke, so the request may have been executed.
  case connectionReset(String)
  /// The response's body is larger than the limit, in bytes.
  case tooLarge(limit: Int)
  case cancelled
  /// Any other error; with curl's code.
  case other(code: Int, String)

  public var description: String {
    switch self {
    case .badURL: "the URL is invalid"
    case .timedOut: "timed out"
    case .couldNotConnect(let reason): "could not connect: \(reason)"
    case .tls(let reason): "TLS: \(reason)"
    case .connectionReset(let reason): "the connection broke: \(reason)"
    case .tooLarge(let limit): "the body of the response is larger than \(limit) bytes"
    case .cancelled: "cancelled"
    case .other(let code, let reason): "\(reason) (curl \(code))"
    }
  }
}
