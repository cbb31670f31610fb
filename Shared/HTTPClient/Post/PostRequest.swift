/// A post to a server that a caller named.
public struct PostRequest: Sendable {
  public var url: String
  /// The headers, which are written unchanged and must not contain line breaks.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// The timeout of the whole exchange, including the connection.
  public var timeout: Duration
  /// True if `http` is allowed; otherwise there is no connection to such a URL.
  public var allowsHTTP: Bool

  public init(url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration, allowsHTTP: Bool) {
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.allowsHTTP = allowsHTTP
  }
}

/// The outcome of a post.
public enum PostOutcome: Sendable, Hashable {
  /// The server responded, with any status. `retryAfter` is the header's text.
  case answered(status: Int, retryAfter: String?)
  /// The host has only addresses that are not allowed.
  case addressRefused
  /// There was no response.
  case failed(HTTPClientError)

  /// The wait in `Retry-After`, given in seconds or as a date (RFC 9110, 10.2.3).
  ///
  /// - Parameter now: seconds since 1970.
  public func retryAfter(now: Int64) -> Duration? {
    guard case .answered(let status, let text?) = self else { return nil }
    return HTTPClientResponse(status: status, headers: [("Retry-After", text)], body: [], httpVersion: "1.1").retryAfter(now: now)
  }
}
