import CCurl

/// A request to another server.
public struct HTTPClientRequest: Sendable {
  public var method: String
  public var url: String
  public var headers: [(String, String)]
  public var body: [UInt8]?
  /// For the whole exchange, the connection included.
  public var timeout: Duration
  /// A larger answer is an error.
  public var maxResponseBytes: Int
  /// Whether it does no harm twice. One that does goes over a connection of its own: what breaks without an answer on a connection
  /// that was there before is sent anew, once.
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

/// What the other server answered.
public struct HTTPClientResponse: Sendable {
  public let status: Int
  /// In the order they came.
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

  /// The first header of that name, whatever its case.
  public subscript(header name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

extension HTTPClientResponse {
  /// The server's clock, in seconds since 1970, as its `Date` header has it (RFC 9110, 6.6.1); nil when there is none that can be read.
  public var date: Int64? {
    guard let header = self[header: "Date"] else { return nil }
    let date = curl_getdate(header, nil)
    return date < 0 ? nil : Int64(date)
  }

  /// What `Retry-After` asks for, in seconds or as a date (RFC 9110, 10.2.3); nil when there is none that can be read.
  ///
  /// - Parameter now: seconds since 1970.
  public func retryAfter(now: Int64) -> Duration? {
    guard let header = self[header: "Retry-After"] else { return nil }
    let text = String(header.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return Int64(text).map { .seconds(min($0, 10 * 365 * 86_400)) } }
    // A date has a comma; curl would make one of a bare number too.
    guard text.contains(",") else { return nil }
    let date = curl_getdate(text, nil)
    return date < 0 ? nil : .seconds(max(0, Int64(date) - now))
  }
}

/// Why there is no answer. Never carries a header or a body.
public enum HTTPClientError: Error, Sendable, Hashable, CustomStringConvertible {
  case badURL
  case timedOut
  /// Nothing was sent.
  case couldNotConnect(String)
  case tls(String)
  /// The connection broke: the request may or may not have been executed.
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

/// How connections are made.
public struct HTTPClientConfiguration: Sendable {
  /// PEM file of trust anchors in place of the system's.
  public var caFile: String?
  /// PEM files of the certificate that this client shows where one is asked for, and of its key.
  public var certificateFile: String?
  public var keyFile: String?
  /// Whether the server's certificate and name are verified; not doing so is for asking oneself over loopback.
  public var verifiesServer = true
  /// How long the anchors of ``caFile`` are used before the file is read anew for a new connection.
  public var anchorLifetime: Duration = .seconds(60)
  /// `host:port` that every connection goes to, whatever the URL says; names and certificates are still the URL's.
  public var connectTo: String?
  public var connectTimeout: Duration = .seconds(3)
  /// Connections to one host; HTTP/2 carries many requests on each.
  public var maxConnectionsPerHost = 16
  /// Requests under way on one HTTP/2 connection, whatever more the server allows: one that breaks takes no more than these with it.
  public var maxStreamsPerConnection = 64
  /// Whether HTTP/2 is offered over TLS.
  public var http2 = true
  /// Told of every request.
  public var observer: (any HTTPRequestObserver)?

  public init() {}
}
