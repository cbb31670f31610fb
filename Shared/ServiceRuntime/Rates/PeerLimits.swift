/// The limits of one peer on a listener.
struct PeerLimits: Sendable {
  /// Open connections; nil if unlimited.
  let connections: PeerQuota?
  /// Bytes of bodies of unanswered requests; nil if unlimited.
  let bodies: PeerQuota?
  private let proxies: [AddressRange]

  /// No limits, for the internal port.
  static let none = PeerLimits()

  private init() { (connections, bodies, proxies) = (nil, nil, []) }

  /// The configured limits of the public port.
  init(_ edge: EdgeSettings) {
    func shares(_ limit: Int) -> PeerQuota? { limit > 0 ? PeerQuota(limit: limit) : nil }
    connections = shares(edge.peerConnections)
    bodies = shares(edge.peerBodyMemory)
    proxies = edge.proxies.ranges
  }

  /// The peer that an address belongs to; nil for proxies, whose connections belong to many peers.
  func peer(_ address: IPAddress?) -> IPAddress? {
    address.flatMap { proxies.contains($0) ? nil : $0 }
  }
}
