import Synchronization

/// Bounds the connections that one peer has open at a time on a listener: one address, or one /64 of IPv6, as rates count them.
///
/// Connections of the proxies in front are many peers' and do not count.
final class PeerConnections: Sendable {
  private let most: Int
  private let proxies: [AddressRange]
  private let open = Mutex<[IPAddress: Int]>([:])

  /// - Parameter proxies: who passes on the connections of others.
  init(most: Int, proxies: [AddressRange]) {
    self.most = most
    self.proxies = proxies
  }

  /// As the public port is configured; nil where peers have no bound.
  convenience init?(_ edge: PublicEdge, _ limits: Limits) {
    // No peer alone takes all connections; yet behind a proxy that is not named everybody is one peer.
    let most = edge.peerConnections ?? max(1, limits.connections / 2)
    guard most > 0 else { return nil }
    self.init(most: most, proxies: edge.proxies.ranges)
  }

  /// Takes a connection from an address; false when it is one too many. One that was taken is given back when it ends.
  func take(_ address: IPAddress) -> Bool {
    guard !proxies.contains(address) else { return true }
    return open.withLock { open in
      let count = open[address.network, default: 0]
      guard count < most else { return false }
      open[address.network] = count + 1
      return true
    }
  }

  func giveBack(_ address: IPAddress) {
    guard !proxies.contains(address) else { return }
    open.withLock { open in
      guard let count = open[address.network] else { return }
      open[address.network] = count > 1 ? count - 1 : nil
    }
  }

  /// Peers that have connections now.
  var count: Int { open.withLock { $0.count } }
}
