import CCurl

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

/// The response of another server.
public struct HTTPClientResponse: Sendable {
  public let status: Int
  /// The headers in order.
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]
  /// `1.1` or `2`.
  public let httpVersion: String

  public init(status: Int, headers: [(name: String, value: String)], body: [UInt8], httpVersion: String) {
    self.status = status
    self.headers = headers
    self.body = body
    self.httpVersion = httpVersion
  }

  /// The first header with that name, ignoring case.
  public subscript(header name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

extension HTTPClientResponse {
  /// The time in the `Date` header (RFC 9110, 6.6.1), seconds since 1970; nil if it is missing or invalid.
  public var date: Int64? {
    guard let header = self[header: "Date"] else { return nil }
    let date = curl_getdate(header, nil)
    return date < 0 ? nil : Int64(date)
  }

  /// The wait in `Retry-After`, given in seconds or as a date (RFC 9110, 10.2.3); nil if it is missing or invalid.
  ///
  /// - Parameter now: seconds since 1970.
  public func retryAfter(now: Int64) -> Duration? {
    guard let header = self[header: "Retry-After"] else { return nil }
    let text = String(header.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return Int64(text).map { .seconds(min($0, 10 * 365 * 86_400)) } }
    // A date contains a comma. curl would parse a bare number as a date too.
    guard text.contains(",") else { return nil }
    let date = curl_getdate(text, nil)
    return date < 0 ? nil : .seconds(max(0, Int64(date) - now))
  }
}

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

/// The settings of connections.
public struct HTTPClientConfiguration: Sendable {
  /// A PEM file of trust anchors instead of the system's.
  public var caFile: String?
  /// The PEM files of the client certificate, and of its key.
  public var certificateFile: String?
  public var keyFile: String?
  /// True if the server's certificate and name are verified. False is only for calls to the own process over loopback.
  public var verifiesServer = true
  /// The time after which ``caFile`` is read again for new connections.
  public var anchorLifetime: Duration = .seconds(60)
  /// The `host:port` to which all connections go, whatever the URL. Names and certificates are still checked by the URL.
  public var connectTo: String?
  public var connectTimeout: Duration = .seconds(3)
  /// The greatest number of connections to one host. With HTTP/2, each carries many requests.
  public var maxConnectionsPerHost = 16
  /// The greatest number of concurrent requests on one HTTP/2 connection, even if the server allows more, because all of them fail if it
  /// breaks.
  public var maxStreamsPerConnection = 64
  /// True if HTTP/2 is offered over TLS.
  public var http2 = true
  /// Is called for every request.
  public var observer: (any HTTPRequestObserver)?

  public init() {}
}
