public import WireJSON

/// A request to the public port with its body.
public struct PublicHTTPRequest: Sendable {
  public let method: String
  /// The path as it was sent, without the query.
  public let path: String
  public let query: String?
  /// The media type without parameters, lower case.
  public let mediaType: String?
  /// The content type as it was sent.
  public let contentType: String?
  public let body: [UInt8]
  /// The client's address according to trusted proxies.
  public let peer: IPAddress?
  /// The time at which the body was complete, milliseconds since 1970.
  public let receivedAt: Int64
  public let requestId: String
  public let traceparent: String
  /// The limits for JSON in the body.
  public let jsonLimits: JSONLimits
}

/// A response of the public port.
public struct PublicHTTPResponse: Sendable {
  public var status: Int
  /// JSON.
  public var body: [UInt8]
  public var headers: [(String, String)]

  public init(status: Int, body: [UInt8] = [], headers: [(String, String)] = []) {
    self.status = status
    self.body = body
    self.headers = headers
  }
}

/// Properties of a public route that are needed before a request's body is read.
public struct PublicRouteDescription: Sendable, Hashable {
  public let method: String
  /// The kind of route for metrics and limits, one of ``EdgeSettings/kinds``.
  public let kind: String
  /// The only status after which the route's senders retry; nil if they retry after the usual ones (408, 429, 503).
  public let retryStatus: Int?
  /// False for a URL of an unknown owner. The request is answered 404 only if the client may use such routes at all.
  public let isServed: Bool

  public init(method: String, kind: String, retryStatus: Int? = nil, isServed: Bool = true) {
    self.isServed = isServed
    self.method = method
    self.kind = kind
    self.retryStatus = retryStatus
  }
}

/// Serves the routes of the public port. Its only implementation is `PublicRouter` of ingest.
public protocol PublicResponder: Sendable {
  /// The route of a path; nil if there is none.
  func route(_ path: String) -> PublicRouteDescription?
  /// The path with placeholders for variable parts, for traces.
  func template(of path: String) -> String
  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse
}
