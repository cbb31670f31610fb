/// A POST request to a server that a caller has chosen, such as the endpoint of a subscription.
public struct PostRequest: Sendable {
  public var url: String
  /// Names and values. They are sent unchanged, so they must not contain line breaks.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// The timeout of the whole exchange, including the connection.
  public var timeout: Duration
  /// True if `http://` URLs are allowed. Otherwise a post to such a URL fails.
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
  /// The server responded, with any status. `retryAfter` is the text of the header `Retry-After`; nil without it, and for a status 2xx.
  case answered(status: Int, retryAfter: String?)
  /// The host has no address to which a connection is allowed.
  case addressRefused
  /// There was no response.
  case failed(HTTPClientError)

  /// The wait in `Retry-After`, see ``HTTPClientResponse/retryAfter(now:)``; nil if there is none.
  ///
  /// - Parameter now: the present time, in seconds since 1970.
  public func retryAfter(now: Int64) -> Duration? {
    guard case .answered(let status, let text?) = self else { return nil }
    return HTTPClientResponse(status: status, headers: [("Retry-After", text)], body: [], httpVersion: "1.1").retryAfter(now: now)
  }
}
