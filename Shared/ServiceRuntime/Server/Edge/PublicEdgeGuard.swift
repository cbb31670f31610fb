import AttributionProtocol

/// Decides by the client whether a request to the public port is allowed.
final class PublicEdgeGuard: Sendable {
  private static let apple = try? AddressRange(validating: EdgeSettings.apple)

  private let edge: EdgeSettings
  private let rates: RateTable<IPAddress>
  /// The rates of Apple's addresses on the routes of the App Store.
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

  /// The client's address behind the proxies.
  func client(of request: IncomingRequest) -> IPAddress? {
    edge.proxies.ranges.isEmpty || request.peer.hasUnknownAddress
      ? request.peer.address : edge.proxies.client(peer: request.peer.address, headers: request.headers)
  }

  /// True if the address is a trusted proxy's.
  func isProxy(_ address: IPAddress) -> Bool { edge.proxies.ranges.contains(address) }

  /// The error with which the request is refused, nil if it is allowed; and the state of the client's rate limit if the request was
  /// counted for `peerRate`.
  ///
  /// The App Store sends the notifications of a whole app, or the repeats of an hour, from a few addresses. On its routes its addresses have
  /// a rate of their own, because `peerRate` is made for one device.
  ///
  /// - Parameter hasUnknownAddress: true if the proxy does not know its client's address. Such a client is on no allow list.
  func decide(_ client: IPAddress?, hasUnknownAddress: Bool = false, kind: String, now: Int64 = RateClock.now()) -> (
    refusal: RPCError?, rateLimitStatus: RateLimitStatus?
  ) {
    if let allowed = edge.allowed[kind], hasUnknownAddress || client.map({ allowed.contains($0) }) != true {
      registry.add("attribution_http_rejected_total", 1, ["address"])
      return (RPCError(.permissionDenied, "this route is not served to this address", reason: "ADDRESS_NOT_ALLOWED"), nil)
    }
    guard let client, edge.peerRate != nil || edge.appStoreRate != nil else { return (nil, nil) }
    let isAppStore = EdgeSettings.appStoreKinds.contains(kind) && Self.apple?.contains(client) == true
    guard let rate = isAppStore ? edge.appStoreRate : edge.peerRate else { return (nil, nil) }
    let (wait, bucket) = (isAppStore ? appStoreRates : rates).taking(client.network, rate, now: now)
    let rateLimitStatus = isAppStore ? nil : RateLimitStatus(bucket, rate)
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
