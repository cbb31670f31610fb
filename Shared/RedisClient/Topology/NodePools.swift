import NIOConcurrencyHelpers

/// The connection pools of a topology's nodes. A pool is created when its node is first needed.
final class NodePools: Sendable {
  private struct State {
    var pools: [NodeAddress: RedisConnectionPool] = [:]
    var isClosed = false
  }

  private let make: @Sendable (NodeAddress) -> RedisConnectionPool
  private let state = NIOLockedValueBox(State())

  init(make: @escaping @Sendable (NodeAddress) -> RedisConnectionPool) { self.make = make }

  /// The pool of a node.
  subscript(_ node: NodeAddress) -> RedisConnectionPool {
    state.withLockedValue { state in
      if let pool = state.pools[node] { return pool }
      let pool = make(node)
      if state.isClosed { pool.close() } else { state.pools[node] = pool }
      return pool
    }
  }

  /// True if a connection to any node is open.
  var isConnected: Bool { state.withLockedValue { $0.pools.values.contains { $0.isConnected } } }

  /// Closes the connections to all nodes but these.
  func keep(_ nodes: some Collection<NodeAddress>) {
    let kept = Set(nodes)
    let removed = state.withLockedValue { state in
      let removed = state.pools.filter { !kept.contains($0.key) }
      for node in removed.keys { state.pools[node] = nil }
      return removed.values
    }
    for pool in removed { pool.close() }
  }

  /// Closes all connections. Later commands fail.
  func close() {
    let all = state.withLockedValue { state in
      state.isClosed = true
      return state.pools.values
    }
    for pool in all { pool.close() }
  }
}
