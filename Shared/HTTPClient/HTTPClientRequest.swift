/// A request to another server.
public struct HTTPClientRequest: Sendable {
  public var method: String
  public var url: String
  public var headers: [(String, String)]
  public var body: [UInt8]?
  /// The timeout of the whole exchange, including the connection.
  public var timeout: Duration
  /// A larger response is an error.
  public var maxResponseBytes: Int
  /// True if a repetition does no harm. Such a request is resent once if an existing connection broke without a response. Any other request
  /// uses a connection of its own.
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
