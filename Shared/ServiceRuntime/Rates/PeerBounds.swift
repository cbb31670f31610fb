/// What one peer may have at a time on a listener.
struct PeerBounds: Sendable {
  /// Open connections; nil where peers have no bound.
  let connections: PeerShares?
  /// Bytes of bodies that are not answered yet; nil where peers have no bound.
  let bodies: PeerShares?
  private let proxies: [AddressRange]

  /// Of the internal port: its callers are one's own.
  static let none = PeerBounds()

  private init() { (connections, bodies, proxies) = (nil, nil, []) }

  /// Of the public port, as it is configured.
  init(_ edge: PublicEdge) {
    func shares(_ most: Int) -> PeerShares? { most > 0 ? PeerShares(most: most) : nil }
    connections = shares(edge.peerConnections)
    bodies = shares(edge.peerBodyMemory)
    proxies = edge.proxies.ranges
  }

  /// Whom something from an address counts for; nil for proxies, which pass on what is many peers'.
  func peer(_ address: IPAddress?) -> IPAddress? {
    address.flatMap { proxies.contains($0) ? nil : $0 }
  }
}
