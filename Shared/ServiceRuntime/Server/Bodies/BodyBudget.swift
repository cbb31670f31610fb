import AttributionProtocol
import Synchronization

/// Bytes of bodies, as they came and as they were inflated, of requests that are not answered yet, over all connections of a listener.
///
/// Bounds of one body, one connection and the number of connections together allow far more than a process has memory for.
final class BodyBudget: Sendable {
  private let most: Int
  private let peers: PeerQuota?
  private let registry: MetricsRegistry
  private let held = Atomic<Int>(0)

  /// - Parameters:
  ///   - peers: what of it one peer may take up; nil where peers have no bound.
  ///   - registry: counts what there was no room for.
  init(most: Int, peers: PeerQuota? = nil, registry: MetricsRegistry = MetricsRegistry()) {
    self.most = most
    self.peers = peers
    self.registry = registry
  }

  var bytes: Int { held.load(ordering: .relaxed) }

  /// Whether there was room for so many bytes more.
  func take(_ count: Int, of peer: IPAddress?) -> Bool {
    if let peers, let peer, !peers.take(count, of: peer) {
      registry.add("attribution_http_rejected_total", 1, ["peer_body_memory"])
      return false
    }
    guard held.add(count, ordering: .relaxed).newValue <= most else {
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

/// What one request takes up of its listener's ``BodyBudget``. It is given back when nobody holds this any more: when the request is
/// answered.
public final class BodyReservation: Sendable {
  private let budget: BodyBudget
  private let peer: IPAddress?
  private let taken = Atomic<Int>(0)

  /// - Parameter peer: whose request it is, where peers have bounds of their own.
  init(_ budget: BodyBudget, peer: IPAddress? = nil) {
    self.budget = budget
    self.peer = peer
  }

  deinit {
    let count = taken.load(ordering: .relaxed)
    if count > 0 { budget.giveBack(count, of: peer) }
  }

  /// Whether there was room for so many bytes more.
  func take(_ count: Int) -> Bool {
    guard budget.take(count, of: peer) else { return false }
    taken.add(count, ordering: .relaxed)
    return true
  }

  /// Of what was taken, bytes that are not needed after all.
  func giveBack(_ count: Int) {
    taken.subtract(count, ordering: .relaxed)
    budget.giveBack(count, of: peer)
  }
}

extension RPCError {
  /// For ``BodyError/noRoom``.
  static var noRoomForBodies: RPCError {
    RPCError(.unavailable, "as many bytes as may be are being read", reason: "OVERLOADED", retryDelay: .seconds(1))
  }
}
