import Synchronization

/// Limits how much of a resource one peer may hold at a time. A peer is one address, or one /64 of IPv6, as for rates.
///
/// Only peers that hold some of it use memory.
final class PeerQuota: Sendable {
  private final class Stripe: Sendable {
    let held: Mutex<[IPAddress: Int]> = Mutex([:])
  }

  private let limit: Int
  private let stripes = (0..<64).map { _ in Stripe() }

  init(limit: Int) { self.limit = limit }

  /// Takes an amount; returns false if the quota would be exceeded.
  func take(_ count: Int, of address: IPAddress) -> Bool {
    guard count > 0 else { return true }
    let peer = address.network
    return stripe(peer).held.withLock { held in
      let now = held[peer, default: 0]
      guard count <= limit - now else { return false }
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

  /// The number of peers that hold some of it.
  var count: Int { stripes.reduce(0) { $0 + $1.held.withLock { $0.count } } }

  private func stripe(_ peer: IPAddress) -> Stripe {
    // Swift seeds its hashes in each process, so a sender cannot aim at a stripe.
    stripes[Int(UInt(bitPattern: peer.hashValue) % UInt(stripes.count))]
  }
}
