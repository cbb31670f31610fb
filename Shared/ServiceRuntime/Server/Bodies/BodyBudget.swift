import AttributionProtocol
import Synchronization

/// Limits the memory for the bodies, received and inflated, of all unanswered requests of a listener.
///
/// The limits of one body, of one connection and of the number of connections multiply to far more memory than a process has.
final class BodyBudget: Sendable {
  private let limit: Int
  private let peers: PeerQuota?
  private let registry: MetricsRegistry
  private let held = Atomic<Int>(0)

  /// - Parameters:
  ///   - peers: the quota of each peer; nil if peers have none.
  ///   - registry: counts refused bodies.
  init(limit: Int, peers: PeerQuota? = nil, registry: MetricsRegistry = MetricsRegistry()) {
    self.limit = limit
    self.peers = peers
    self.registry = registry
  }

  var bytes: Int { held.load(ordering: .relaxed) }

  /// Reserves bytes; returns false if the limit or the peer's quota would be exceeded.
  func take(_ count: Int, of peer: IPAddress?) -> Bool {
    if let peers, let peer, !peers.take(count, of: peer) {
      registry.add("attribution_http_rejected_total", 1, ["peer_body_memory"])
      return false
    }
    guard held.add(count, ordering: .relaxed).newValue <= limit else {
      giveBack(count, of: peer)
      registry.add("attribution_http_rejected_total", 1, ["body_memory"])
      return false
    }
    return true
  }

  func giveBack(_ count: Int, of peer: IPAddress?) {
    held.subtract(count, ordering: .relaxed)
    if let peers, let peer { peers.giveBack(count, of: peer) }
  }
}

/// The memory that one request has reserved of its listener's ``BodyBudget``. It is released when this object is deallocated, after the
/// request was answered and its work has ended.
public final class BodyReservation: Sendable {
  private let budget: BodyBudget
  private let peer: IPAddress?
  private let taken = Atomic<Int>(0)

  /// - Parameter peer: the peer whose quota counts; nil if peers have none.
  init(_ budget: BodyBudget, peer: IPAddress? = nil) {
    self.budget = budget
    self.peer = peer
  }

  deinit {
    let count = taken.load(ordering: .relaxed)
    if count > 0 { budget.giveBack(count, of: peer) }
  }

  /// Reserves more bytes; returns false if the limit or the peer's quota would be exceeded.
  func take(_ count: Int) -> Bool {
    guard budget.take(count, of: peer) else { return false }
    taken.add(count, ordering: .relaxed)
    return true
  }

  /// Releases bytes that were reserved and are not needed.
  func giveBack(_ count: Int) {
    taken.subtract(count, ordering: .relaxed)
    budget.giveBack(count, of: peer)
  }
}

extension RPCError {
  /// The error for ``BodyError/noRoom``.
  static var noRoomForBodies: RPCError {
    RPCError(.unavailable, "as many bytes as may be are being read", reason: "OVERLOADED", retryDelay: .seconds(1))
  }
}
