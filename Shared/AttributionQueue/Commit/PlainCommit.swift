import RedisClient

/// The call of commit_plain.lua, which settles a plain batch.
struct PlainCommit {
  /// What the script did.
  enum Outcome {
    /// It settled the batch. `left`: how many messages are left in the stream.
    case settled(left: Int64)
    /// Nothing: another worker owns the shard, a natural key was claimed before, or original bytes are asked for. commit.lua decides.
    case needsCommit
    /// Nothing: the first message is not the first of the stream.
    case notFirst

    /// Nil if it is not a reply of the script.
    init?(_ reply: RedisReply) {
      switch reply.integer {
      case -1: self = .needsCommit
      case -2: self = .notFirst
      case let left? where left >= 0: self = .settled(left: left)
      default: return nil
      }
    }
  }

  private(set) var keys: EncodedArguments
  private(set) var arguments: EncodedArguments

  init(_ batch: PlainBatch) {
    let items = batch.items
    keys = EncodedArguments(reserving: 256 + 192 * items.count)
    keys.append(Keys.ownership(batch.queue, batch.shard))
    keys.append(Keys.ready(batch.queue, batch.shard))
    keys.append(Keys.events(batch.shard))
    keys.append(Keys.eventsIndex(batch.shard))
    keys.append(Keys.originals(batch.shard))
    arguments = EncodedArguments(
      reserving: items.indices.reduce(256) { $0 + 320 + items[$1].record.count + (items[$1].event?.json.count ?? 0) })
    arguments.append(batch.ownership.text)
    arguments.append(items[0].entryID)
    arguments.append(batch.behind.text)
    arguments.append(batch.recordSeconds)
    arguments.append(items.contains(where: \.keepsOriginal) ? "1" : "0")
    for place in items.indices { append(items[place]) }
  }

  private mutating func append(_ item: CommitItem) {
    keys.append(Keys.deliveries(item.deliveryID.shard), item.deliveryID.digest)
    if let claim = item.claim {
      claim.append(.this, to: &keys)
      claim.append(.last, to: &keys)
      arguments.append(claim.member)
      arguments.append(claim.expirySeconds)
    } else {
      for _ in 0..<2 { arguments.append("") }
    }
    arguments.append(item.record)
    arguments.append(Int64(item.event?.streamWords ?? 0))
    item.event?.appendFields(to: &arguments)
  }
}
