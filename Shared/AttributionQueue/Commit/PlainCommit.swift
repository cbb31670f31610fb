import RedisClient

/// The keys and arguments of a call of commit_plain.lua, which settles a plain batch, and its result.
struct PlainCommit {
  private(set) var keys: EncodedArguments
  private(set) var arguments: EncodedArguments

  /// - Parameter isAnnounced: true if the batch is one message that accept.lua published on the notification channel and that was not read
  ///   from the stream.
  init(_ batch: PlainBatch, isAnnounced: Bool = false) {
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
    arguments.append(batch.nextID.text)
    arguments.append(batch.recordSeconds)
    arguments.append(items.contains(where: \.keepsOriginal) ? "1" : "0")
    arguments.append(isAnnounced ? items[0].deliveryID.description : "")
    for index in items.indices { append(items[index]) }
  }

  /// The result in the script's reply; nil for any other reply.
  static func outcome(_ reply: RedisReply) -> PlainBatch.Outcome? {
    switch reply.integer {
    case -1: .needsCommit
    case -2: .notFirst
    case -3: .keepsOriginals
    case let remaining? where remaining >= 0: .settled(remaining: remaining)
    default: nil
    }
  }

  private mutating func append(_ item: CommitItem) {
    keys.append(Keys.deliveries(item.deliveryID.shard), item.deliveryID.digest)
    if let claim = item.claim {
      claim.append(.current, to: &keys)
      claim.append(.previous, to: &keys)
      arguments.append(claim.member)
      arguments.append(claim.expirySeconds)
    } else {
      for _ in 0..<2 { arguments.append("") }
    }
    arguments.append(item.record)
    arguments.append(Int64(item.event?.streamArgumentCount ?? 0))
    item.event?.appendFields(to: &arguments)
  }
}
