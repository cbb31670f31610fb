import Synchronization

/// Bounds how much of something one peer has at a time: one address, or one /64 of IPv6, as rates count them.
///
/// Only peers that have some are remembered.
final class PeerQuota: Sendable {
  private final class Stripe: Sendable {
    let held: Mutex<[IPAddress: Int]> = Mutex([:])
  }

  private let most: Int
  private let stripes = (0..<64).map { _ in Stripe() }

  init(most: Int) { self.most = most }

  /// Whether there was room for so much more.
  func take(_ count: Int, of address: IPAddress) -> Bool {
    guard count > 0 else { return true }
    let peer = address.network
    return stripe(peer).held.withLock { held in
      let now = held[peer, default: 0]
      guard count <= most - now else { return false }
      held[peer] = now + count
      return true
    }
  }

  func giveBack(_ count: Int, of address: IPAddress) {
    let peer = address.network
    stripe(peer).held.withLock { held in
      let left = held[peer, default: 0] - count
      held[peer] = left > 0 ? left : nil
    }
  }

  /// Peers that have some now.
  var count: Int { stripes.reduce(0) { $0 + $1.held.withLock { $0.count } } }

  private func stripe(_ peer: IPAddress) -> Stripe {
    // Swift's hashes are seeded anew in each process: nobody can aim at a stripe.
    stripes[Int(UInt(bitPattern: peer.hashValue) % UInt(stripes.count))]
  }
}
