/// Why there is no response. It never contains a header or a body.
public enum HTTPClientError: Error, Sendable, Hashable, CustomStringConvertible {
  case badURL
  case timedOut
  /// Nothing was sent.
  case couldNotConnect(String)
  case tls(String)
  /// The connection broke, so the request may have been executed.
  case connectionReset(String)
  case tooLarge(limit: Int)
  case cancelled
  case other(code: Int, String)

  public var description: String {
    switch self {
    case .badURL: "not a URL"
    case .timedOut: "timed out"
    case .couldNotConnect(let reason): "could not connect: \(reason)"
    case .tls(let reason): "TLS: \(reason)"
    case .connectionReset(let reason): "the connection broke: \(reason)"
    case .tooLarge(let limit): "the answer is larger than \(limit) bytes"
    case .cancelled: "cancelled"
    case .other(let code, let reason): "\(reason) (curl \(code))"
    }
  }
}
