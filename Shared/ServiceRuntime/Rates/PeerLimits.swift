/// What one peer may use of a listener at the same time. A peer is one address, or one /64 of IPv6 (``PeerQuota``).
struct PeerLimits: Sendable {
  /// The quota of open connections; nil for no limit.
  let connections: PeerQuota?
  /// The quota of bytes in the bodies of unanswered requests; nil for no limit.
  let bodies: PeerQuota?
  private let proxies: [AddressRange]

  /// No limits, for the internal port.
  static let none = PeerLimits()

  private init() { (connections, bodies, proxies) = (nil, nil, []) }

  /// The configured limits of the public port.
  init(_ edge: EdgeSettings) {
    func quota(_ limit: Int) -> PeerQuota? { limit > 0 ? PeerQuota(limit: limit) : nil }
    connections = quota(edge.peerConnections)
    bodies = quota(edge.peerBodyMemory)
    proxies = edge.proxies.ranges
  }

  /// The address if it counts as a peer; nil for a trusted proxy, whose connections come from many clients.
  func peer(_ address: IPAddress?) -> IPAddress? {
    address.flatMap { proxies.contains($0) ? nil : $0 }
  }
}
