/// A request to another server.
public struct HTTPClientRequest: Sendable {
  public var method: String
  public var url: String
  /// Names and values. A header that contains a control character is not sent.
  public var headers: [(String, String)]
  public var body: [UInt8]?
  /// The timeout of the whole exchange, including the connection.
  public var timeout: Duration
  /// The greatest size of the response's body in bytes. A larger one is the error ``HTTPClientError/tooLarge(limit:)``.
  public var maxResponseBytes: Int
  /// True if sending the request twice does no harm. Such a request is sent again, once, if a reused connection breaks before any byte of
  /// the response. A request that is not repeatable gets a new connection, which the server has no reason to close.
  public var isRepeatable: Bool

  public init(
    method: String, url: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
    timeout: Duration = .seconds(10),
    maxResponseBytes: Int = 8 << 20,
    isRepeatable: Bool = true
  ) {
    self.isRepeatable = isRepeatable
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.maxResponseBytes = maxResponseBytes
  }
}
