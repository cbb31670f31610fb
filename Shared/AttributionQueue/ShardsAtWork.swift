import Synchronization

/// Which shards of a lane are being worked, and what was leased of them meanwhile: messages of a shard are worked in their order.
final class ShardsAtWork: Sendable {
  private let waiting = Mutex<[Shard: [LeasedMessage]]>([:])
  /// Rings when messages that waited here are begun: their shard may be leased from again.
  let begun = Bell()

  /// Whether the shard's work begins with these messages. Otherwise it is under way, and they are worked behind it.
  func begins(_ messages: [LeasedMessage], of shard: Shard) -> Bool {
    waiting.withLock { waiting in
      guard waiting[shard] != nil else {
        waiting[shard] = []
        return true
      }
      waiting[shard]?.append(contentsOf: messages)
      return false
    }
  }

  /// What to work next of a shard, whose work ends when that is nothing.
  func next(of shard: Shard) -> [LeasedMessage]? {
    let messages: [LeasedMessage]? = waiting.withLock { waiting in
      guard let messages = waiting[shard], !messages.isEmpty else {
        waiting[shard] = nil
        return nil
      }
      waiting[shard] = []
      return messages
    }
    if messages != nil { begun.ring() }
    return messages
  }

  /// Shards of which messages wait here: no more are leased of them.
  var backlogged: Set<Shard> { waiting.withLock { Set($0.lazy.filter { !$0.value.isEmpty }.map(\.key)) } }
}
