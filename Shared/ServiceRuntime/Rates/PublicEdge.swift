import AttributionProtocol

/// The access rules and rate limits of the public port (`edge:` of the configuration).
public struct PublicEdge: Sendable, Hashable {
  /// Apple's own network, which its servers call from.
  public static let apple = "17.0.0.0/8"

  /// The trusted proxies in front of the service, and the header in which they name their client.
  public var proxies = TrustedProxies()
  /// The listeners on which the proxies' connections begin with a header of the PROXY protocol.
  public var proxyProtocol: Set<Listener> = []
  /// The addresses that may use a kind of route. Everybody may use a kind that is not listed.
  public var allowed: [String: [AddressRange]] = [:]
  /// The maximum rate of requests of one address, or of one /64 of IPv6; no limit unless it is set.
  public var peerRate: RequestRate?
  /// The maximum number of addresses whose rates are counted at the same time.
  public var peers = 65_536
  /// The maximum number of open connections of one address, or of one /64 of IPv6; 0 for no limit.
  public var peerConnections = 0
  /// The maximum size of the unanswered bodies of one address, or of one /64 of IPv6, in bytes; 0 for no limit.
  public var peerBodyMemory = 0

  public init() {}

  /// One of the ports of a service.
  public enum Listener: String, Sendable, CaseIterable {
    case `public`, `internal`
  }

  /// The peers whose connections begin with a header of the PROXY protocol.
  func proxies(of listener: Listener) -> [AddressRange] { proxyProtocol.contains(listener) ? proxies.ranges : [] }
}

/// Decides by the client whether a request to the public port is allowed.
final class PublicEdgeGuard: Sendable {
  private let edge: PublicEdge
  private let rates: RateTable<IPAddress>
  private let registry: MetricsRegistry
  /// The header field `RateLimit-Policy`; nil if clients have no rate limit.
  let ratePolicy: String?

  init(_ edge: PublicEdge, _ registry: MetricsRegistry) {
    self.edge = edge
    self.registry = registry
    rates = RateTable(most: edge.peers)
    ratePolicy = edge.peerRate.map(RateLimitStatus.policyField)
    registry.counter("attribution_rate_limited_total", help: "Requests that exceeded their caller's rate limit.", labels: ["method"])
  }

  /// The client's address behind the proxies.
  func client(of request: IncomingRequest) -> IPAddress? {
    edge.proxies.ranges.isEmpty || request.peer.isStranger
      ? request.peer.address : edge.proxies.client(peer: request.peer.address, headers: request.headers)
  }

  /// True if the address is a trusted proxy's.
  func isProxy(_ address: IPAddress) -> Bool { edge.proxies.ranges.contains(address) }

  /// The error with which the request is refused, nil if it is allowed; and the state of the client's rate limit if the request was
  /// counted.
  ///
  /// - Parameter isStranger: true if the proxy does not know its client's address. Such a client is on no allow list.
  func decide(_ client: IPAddress?, isStranger: Bool = false, kind: String, now: Int64 = RateClock.now()) -> (
    refusal: RPCError?, rateLimitStatus: RateLimitStatus?
  ) {
    if let allowed = edge.allowed[kind], isStranger || client.map({ allowed.contains($0) }) != true {
      registry.add("attribution_http_rejected_total", 1, ["address"])
      return (RPCError(.permissionDenied, "this route is not served to this address", reason: "ADDRESS_NOT_ALLOWED"), nil)
    }
    guard let rate = edge.peerRate, let client else { return (nil, nil) }
    let (wait, bucket) = rates.taking(client.network, rate, now: now)
    let rateLimitStatus = RateLimitStatus(bucket, rate)
    guard let wait else { return (nil, rateLimitStatus) }
    registry.add("attribution_rate_limited_total", 1, ["public/" + kind])
    return (.rateLimited(wait), rateLimitStatus)
  }
}

extension RPCError {
  /// Too many requests; the next one is allowed after that time.
  static func rateLimited(_ wait: Duration) -> RPCError {
    RPCError(.resourceExhausted, "too many requests from here", reason: "RATE_LIMITED", retryDelay: wait)
  }
}
