import NIOConcurrencyHelpers

/// The connection pools of a topology's nodes, created on demand.
final class NodePools: Sendable {
  private struct State {
    var pools: [NodeAddress: RedisConnectionPool] = [:]
    var isClosed = false
  }

  private let make: @Sendable (NodeAddress) -> RedisConnectionPool
  private let state = NIOLockedValueBox(State())

  init(make: @escaping @Sendable (NodeAddress) -> RedisConnectionPool) { self.make = make }

  subscript(_ node: NodeAddress) -> RedisConnectionPool {
    state.withLockedValue { state in
      if let pool = state.pools[node] { return pool }
      let pool = make(node)
      if state.isClosed { pool.close() } else { state.pools[node] = pool }
      return pool
    }
  }

  var isConnected: Bool { state.withLockedValue { $0.pools.values.contains { $0.isConnected } } }

  /// Closes the connections to nodes that are no longer in the topology.
  func keep(_ nodes: some Collection<NodeAddress>) {
    let kept = Set(nodes)
    let gone = state.withLockedValue { state in
      let gone = state.pools.filter { !kept.contains($0.key) }
      for node in gone.keys { state.pools[node] = nil }
      return gone.values
    }
    for pool in gone { pool.close() }
  }

  func close() {
    let all = state.withLockedValue { state in
      state.isClosed = true
      return state.pools.values
    }
    for pool in all { pool.close() }
  }
}
