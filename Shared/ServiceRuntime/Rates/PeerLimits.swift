/// What one peer may have at a time on a listener.
struct PeerLimits: Sendable {
  /// Open connections; nil where peers have no bound.
  let connections: PeerQuota?
  /// Bytes of bodies that are not answered yet; nil where peers have no bound.
  let bodies: PeerQuota?
  private let proxies: [AddressRange]

  /// Of the internal port: its callers are one's own.
  static let none = PeerLimits()

  private init() { (connections, bodies, proxies) = (nil, nil, []) }

  /// Of the public port, as it is configured.
  init(_ edge: PublicEdge) {
    func shares(_ most: Int) -> PeerQuota? { most > 0 ? PeerQuota(most: most) : nil }
    connections = shares(edge.peerConnections)
    bodies = shares(edge.peerBodyMemory)
    proxies = edge.proxies.ranges
  }

  /// Whom something from an address counts for; nil for proxies, which pass on what is many peers'.
  func peer(_ address: IPAddress?) -> IPAddress? {
    address.flatMap { proxies.contains($0) ? nil : $0 }
  }
}
