import AttributionProtocol
import Synchronization

/// Limits the memory for the bodies of all unanswered requests of a listener, both as received and after inflation (`limits.bodyMemory`).
///
/// It is needed because the limit of a single body, multiplied by the number of connections, is far more memory than a process has.
final class BodyBudget: Sendable {
  private let limit: Int
  private let peers: PeerQuota?
  private let registry: MetricsRegistry
  private let reserved = Atomic<Int>(0)

  /// - Parameters:
  ///   - peers: the quota of each peer; nil if peers have no quota.
  ///   - registry: the metrics in which refused bodies are counted.
  init(limit: Int, peers: PeerQuota? = nil, registry: MetricsRegistry = MetricsRegistry()) {
    self.limit = limit
    self.peers = peers
    self.registry = registry
  }

  /// The bytes that are reserved.
  var bytes: Int { reserved.load(ordering: .relaxed) }

  /// Reserves bytes. Returns false, and reserves nothing, if the limit or the peer's quota would be exceeded.
  func reserve(_ count: Int, of peer: IPAddress?) -> Bool {
    if let peers, let peer, !peers.reserve(count, of: peer) {
      registry.add("attribution_http_rejected_total", 1, ["peer_body_memory"])
      return false
    }
    guard reserved.add(count, ordering: .relaxed).newValue <= limit else {
      release(count, of: peer)
      registry.add("attribution_http_rejected_total", 1, ["body_memory"])
      return false
    }
    return true
  }

  /// Releases bytes that were reserved.
  func release(_ count: Int, of peer: IPAddress?) {
    reserved.subtract(count, ordering: .relaxed)
    if let peers, let peer { peers.release(count, of: peer) }
  }
}

/// The memory that one request has reserved in its listener's ``BodyBudget``. It is released when this object is deallocated: the closures
/// that do the request's work keep the object until that work has ended.
public final class BodyReservation: Sendable {
  private let budget: BodyBudget
  private let peer: IPAddress?
  private let reserved = Atomic<Int>(0)

  /// - Parameter peer: the peer in whose quota bytes are reserved too; nil for none.
  init(_ budget: BodyBudget, peer: IPAddress? = nil) {
    self.budget = budget
    self.peer = peer
  }

  deinit {
    let count = reserved.load(ordering: .relaxed)
    if count > 0 { budget.release(count, of: peer) }
  }

  /// Reserves more bytes. Returns false, and reserves nothing, if the limit or the peer's quota would be exceeded.
  func reserve(_ count: Int) -> Bool {
    guard budget.reserve(count, of: peer) else { return false }
    reserved.add(count, ordering: .relaxed)
    return true
  }

  /// Releases bytes that were reserved and are not needed.
  func release(_ count: Int) {
    reserved.subtract(count, ordering: .relaxed)
    budget.release(count, of: peer)
  }
}

extension RPCError {
  /// The error for ``BodyError/noRoom``.
  static var noRoomForBodies: RPCError {
    RPCError(
      .unavailable, "the memory for request bodies, or this client's share of it, is used up", reason: "OVERLOADED",
      retryDelay: .seconds(1))
  }
}
