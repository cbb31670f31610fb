public import WireJSON

/// A request to the public port, its body read and bounded.
public struct PublicHTTPRequest: Sendable {
  public let method: String
  public let path: String
  public let query: String?
  /// Without its parameters, lower case.
  public let mediaType: String?
  /// The content type as it was sent.
  public let contentType: String?
  public let body: [UInt8]
  /// Who asks, past the proxies that are believed.
  public let peer: IPAddress?
  public let requestId: String
  public let traceparent: String
  /// What JSON in the body may be.
  public let jsonLimits: JSONLimits
}

/// An answer of the public port.
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

/// What is known of a public route before its request's body is read.
public struct PublicRouteDescription: Sendable, Hashable {
  public let method: String
  /// A bounded name, one of ``PublicEdge/kinds``.
  public let kind: String
  /// What a sender that is to come again is answered in place of 429: 500 where only that is promised a repeat.
  public let comeAgainStatus: Int
  /// False for the URL of somebody who is not known here: whoever may ask such routes is told that there is none, and nobody else.
  public let isServed: Bool

  public init(method: String, kind: String, comeAgainStatus: Int = 429, isServed: Bool = true) {
    self.isServed = isServed
    self.method = method
    self.kind = kind
    self.comeAgainStatus = comeAgainStatus
  }
}

/// Serves the routes of the public port.
public protocol PublicResponder: Sendable {
  /// The route of a path; nil when it is none.
  func route(_ path: String) -> PublicRouteDescription?
  /// The path with names in place of what is somebody's own, for traces.
  func template(of path: String) -> String
  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse
}
