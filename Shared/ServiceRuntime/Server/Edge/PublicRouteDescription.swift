/// Properties of a public route that are needed before a request's body is read.
public struct PublicRouteDescription: Sendable, Hashable {
  public let method: String
  /// The kind of route for metrics and limits, one of ``EdgeSettings/kinds``.
  public let kind: String
  /// The status after which the route's senders retry; nil if they retry after the usual ones (408, 429, 503).
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
