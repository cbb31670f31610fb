import Synchronization

/// Limits how much of a resource, such as connections or bytes, one peer may use at a time. A peer is one address, or one /64 of IPv6, as
/// for rates.
///
/// Only peers that use some of the resource take memory.
final class PeerQuota: Sendable {
  private final class Stripe: Sendable {
    let used: Mutex<[IPAddress: Int]> = Mutex([:])
  }

  private let limit: Int
  /// The peers are distributed over several locks, so that connections on different event loops rarely wait for each other.
  private let stripes = (0..<64).map { _ in Stripe() }

  init(limit: Int) { self.limit = limit }

  /// Reserves an amount. Returns false, and reserves nothing, if the peer's limit would be exceeded.
  func reserve(_ count: Int, of address: IPAddress) -> Bool {
    guard count > 0 else { return true }
    let peer = address.network
    return stripe(peer).used.withLock { used in
      let current = used[peer, default: 0]
      guard count <= limit - current else { return false }
      used[peer] = current + count
      return true
    }
  }

  /// Releases an amount that was reserved.
  func release(_ count: Int, of address: IPAddress) {
    let peer = address.network
    stripe(peer).used.withLock { used in
      let remaining = used[peer, default: 0] - count
      used[peer] = remaining > 0 ? remaining : nil
    }
  }

  /// The number of peers that use some of the resource.
  var count: Int { stripes.reduce(0) { $0 + $1.used.withLock { $0.count } } }

  private func stripe(_ peer: IPAddress) -> Stripe {
    // Swift's hashes have a random seed in each process, so a sender cannot choose addresses that all share one lock.
    stripes[Int(UInt(bitPattern: peer.hashValue) % UInt(stripes.count))]
  }
}
