/// The properties of a public route that are needed before a request's body is read.
public struct PublicRouteDescription: Sendable, Hashable {
  public let method: String
  /// The kind of route for metrics and limits, one of ``EdgeSettings/kinds``.
  public let kind: String
  /// The status after which the route's senders retry; nil if they retry after the usual statuses (408, 429 and 503).
  public let retryStatus: Int?
  /// False for a URL with the id of an app that is not configured. Its requests are answered with 404, but only after the allow lists: a
  /// client that may not use the route must not learn which apps are configured.
  public let isServed: Bool

  public init(method: String, kind: String, retryStatus: Int? = nil, isServed: Bool = true) {
    self.isServed = isServed
    self.method = method
    self.kind = kind
    self.retryStatus = retryStatus
  }
}
