import Synchronization

/// The leases of a worker that are not settled yet: these are renewed.
final class HeldLeases: Sendable {
  /// By shard, in the order in which they were leased, which is mostly that in which they are settled.
  private let leases = Mutex<[[LeaseToken]]>(Array(repeating: [], count: Shard.count))

  var all: [(shard: Shard, token: LeaseToken)] {
    leases.withLock { leases in Shard.all.flatMap { shard in leases[shard.index].map { (shard, $0) } } }
  }

  func add(_ tokens: some Sequence<LeaseToken>, of shard: Shard) {
    leases.withLock { $0[shard.index].append(contentsOf: tokens) }
  }

  func remove(_ tokens: some Collection<LeaseToken>, of shard: Shard) {
    leases.withLock { leases in
      if leases[shard.index].starts(with: tokens) {
        leases[shard.index].removeFirst(tokens.count)
      } else {
        leases[shard.index].removeAll { tokens.contains($0) }
      }
    }
  }
}
