/// Bytes to be posted to a server that others named.
public struct PostRequest: Sendable {
  public var url: String
  /// Names and values that are written as they are: without line breaks.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// For the whole exchange, the connection included.
  public var timeout: Duration
  /// Whether it may go in clear text. Otherwise such a URL is not connected to.
  public var allowsHTTP: Bool

  public init(url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration, allowsHTTP: Bool) {
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.allowsHTTP = allowsHTTP
  }
}

/// What became of a post.
public enum PostOutcome: Sendable, Hashable {
  /// The server answered, with whatever status. `retryAfter` is the header's text.
  case answered(status: Int, retryAfter: String?)
  /// The name stands for addresses that must not be connected to.
  case addressRefused
  /// There is no answer.
  case failed(HTTPClientError)

  /// What the server asked for in `Retry-After`, in seconds or as a date (RFC 9110, 10.2.3).
  ///
  /// - Parameter now: seconds since 1970.
  public func retryAfter(now: Int64) -> Duration? {
    guard case .answered(let status, let text?) = self else { return nil }
    return HTTPClientResponse(status: status, headers: [("Retry-After", text)], body: [], httpVersion: "1.1").retryAfter(now: now)
  }
}
