import Synchronization

/// The leases of a worker that are not settled yet: these are renewed.
final class HeldLeases: Sendable {
  /// By shard, in the order in which they were leased, which is mostly that in which they are settled. One object is one lease: a
  /// message that this worker took over from itself is another.
  private let leases = Mutex<[[LeasedMessage]]>(Array(repeating: [], count: Shard.count))

  var all: [LeasedMessage] { leases.withLock { $0.flatMap { $0 } } }

  func add(_ messages: [LeasedMessage]) {
    leases.withLock { leases in for message in messages { leases[message.shard.index].append(message) } }
  }

  /// Takes out messages of one shard.
  func remove(_ messages: [LeasedMessage]) {
    guard let shard = messages.first?.shard.index else { return }
    leases.withLock { leases in
      if leases[shard].count >= messages.count, zip(leases[shard], messages).allSatisfy({ $0 === $1 }) {
        leases[shard].removeFirst(messages.count)
      } else {
        leases[shard].removeAll { held in messages.contains { $0 === held } }
      }
    }
  }
}
