import AttributionProtocol

/// Decides by the client's address whether a request to the public port is allowed: by the allow lists and rate limits of ``EdgeSettings``.
final class PublicEdgeGuard: Sendable {
  private static let apple = try? AddressRange(validating: EdgeSettings.apple)

  private let edge: EdgeSettings
  private let rates: RateTable<IPAddress>
  /// The rates of addresses in Apple's network on the routes of the App Store.
  private let appStoreRates: RateTable<IPAddress>
  private let registry: MetricsRegistry
  /// The header field `RateLimit-Policy`; nil if clients have no rate limit.
  let ratePolicy: String?

  init(_ edge: EdgeSettings, _ registry: MetricsRegistry) {
    self.edge = edge
    self.registry = registry
    rates = RateTable(maxKeys: edge.peers)
    appStoreRates = RateTable(maxKeys: edge.peers)
    ratePolicy = edge.peerRate.map(RateLimitStatus.policyField)
    registry.counter("attribution_rate_limited_total", help: "Requests that exceeded their caller's rate limit.", labels: ["method"])
  }

  /// The client that the headers of trusted proxies name, else the peer.
  func client(of request: IncomingRequest) -> TrustedProxies.Client {
    edge.proxies.ranges.isEmpty || request.peer.hasUnknownAddress
      ? TrustedProxies.Client(address: request.peer.address, isUnknown: request.peer.hasUnknownAddress)
      : edge.proxies.client(peer: request.peer.address, headers: request.headers)
  }

  /// True if the address is a trusted proxy's.
  func isProxy(_ address: IPAddress) -> Bool { edge.proxies.ranges.contains(address) }

  /// Returns the error with which the request is refused, or nil if it is allowed, and the state of the client's rate limit if the request
  /// counted for `peerRate`.
  ///
  /// On the App Store's routes, addresses in Apple's network have the rate `appStoreRate`. The limit `peerRate` is meant for a single
  /// device, while the App Store sends the notifications of a whole app, and repeats those of an hour, from a few addresses.
  ///
  /// A client whose address is not known is not on any allow list.
  func decide(_ client: TrustedProxies.Client, kind: String, now: Int64 = RateClock.now()) -> (
    refusal: RPCError?, rateLimitStatus: RateLimitStatus?
  ) {
    if let allowed = edge.allowed[kind], client.isUnknown || client.address.map({ allowed.contains($0) }) != true {
      registry.add("attribution_http_rejected_total", 1, ["address"])
      return (RPCError(.permissionDenied, "this address may not use this route", reason: "ADDRESS_NOT_ALLOWED"), nil)
    }
    guard let client = client.address, edge.peerRate != nil || edge.appStoreRate != nil else { return (nil, nil) }
    let isAppStore = EdgeSettings.appStoreKinds.contains(kind) && Self.apple?.contains(client) == true
    guard let rate = isAppStore ? edge.appStoreRate : edge.peerRate else { return (nil, nil) }
    let (wait, bucket) = (isAppStore ? appStoreRates : rates).takeReturningBucket(client.network, rate, now: now)
    let rateLimitStatus = isAppStore ? nil : RateLimitStatus(bucket, rate)
    guard let wait else { return (nil, rateLimitStatus) }
    registry.add("attribution_rate_limited_total", 1, ["public/" + kind])
    return (.rateLimited(wait), rateLimitStatus)
  }
}

extension RPCError {
  /// The error of a caller that exceeds its rate limit. Its next request is allowed after that time.
  static func rateLimited(_ wait: Duration) -> RPCError {
    RPCError(.resourceExhausted, "too many requests from this caller or address", reason: "RATE_LIMITED", retryDelay: wait)
  }
}
