import Synchronization

/// Which shards of a lane are being worked, and what was leased of them meanwhile: messages of a shard are worked in their order.
final class ShardsAtWork: Sendable {
  private let waiting = Mutex<[Shard: [LeasedEntries]]>([:])
  /// Rings when all messages that waited here are begun: their shard may be leased from again.
  let begun = Bell()

  /// Whether the shard's work begins with these. Otherwise it is under way, and they are worked behind it.
  func begins(_ entries: LeasedEntries) -> Bool {
    waiting.withLock { waiting in
      guard waiting[entries.shard] != nil else {
        waiting[entries.shard] = []
        return true
      }
      waiting[entries.shard]?.append(entries)
      return false
    }
  }

  /// What to work next of a shard, whose work ends when that is nothing.
  func next(of shard: Shard) -> LeasedEntries? {
    let (entries, isLast): (LeasedEntries?, Bool) = waiting.withLock { waiting in
      guard var entries = waiting[shard], !entries.isEmpty else {
        waiting[shard] = nil
        return (nil, false)
      }
      let first = entries.removeFirst()
      waiting[shard] = entries
      return (first, entries.isEmpty)
    }
    if isLast { begun.ring() }
    return entries
  }

  /// Shards of which messages wait here: no more are leased of them.
  var backlogged: Set<Shard> { waiting.withLock { Set($0.lazy.filter { !$0.value.isEmpty }.map(\.key)) } }
}
