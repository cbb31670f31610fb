import RedisClient

/// Entries of one shard that were leased together, in their order.
///
/// Each is read when its turn comes: thousands may wait, and one that was read is spread over many places, which the processor's caches
/// have lost when it is worked.
struct LeasedEntries: Sendable {
  let shard: Shard
  private let entries: RedisReply.Elements

  /// - Parameter stream: what Redis answers of a stream that it was asked for: its key and the entries; nil for what is no shard's.
  init?(stream: RedisReply) {
    var parts = stream.elements
    guard let shard = parts.nextString().flatMap(Keys.shard), let entries = parts.next() else { return nil }
    self.shard = shard
    // Apart from what was read of other shards with them: a slow one is not to hold what those had.
    self.entries = entries.detached.elements
  }

  var count: Int { entries.underestimatedCount }

  /// The ids of all.
  var ids: [String] {
    entries.compactMap { entry in
      var parts = entry.elements
      return parts.nextString()
    }
  }

  /// The messages that they are, each read when it is asked for.
  ///
  /// - Parameter isNone: is told the id of an entry that is none: it becomes a dead letter.
  func messages(_ consumer: QueueConsumer, isNone: @escaping @Sendable (_ entryID: String) -> Void) -> Messages {
    Messages(entries: entries, shard: shard, consumer: consumer, isNone: isNone)
  }

  struct Messages: Sequence, IteratorProtocol {
    fileprivate var entries: RedisReply.Elements
    fileprivate let shard: Shard
    fileprivate let consumer: QueueConsumer
    fileprivate let isNone: @Sendable (String) -> Void
    private var kind = ""

    fileprivate init(
      entries: RedisReply.Elements, shard: Shard, consumer: QueueConsumer, isNone: @escaping @Sendable (String) -> Void
    ) {
      self.entries = entries
      self.shard = shard
      self.consumer = consumer
      self.isNone = isNone
    }

    mutating func next() -> LeasedMessage? {
      while let entry = entries.next() {
        if let message = consumer.lease(entry: entry, of: shard, kindBefore: kind) {
          kind = message.message.kind
          return message
        }
        var parts = entry.elements
        if let id = parts.nextString() { isNone(id) }
      }
      return nil
    }
  }
}
