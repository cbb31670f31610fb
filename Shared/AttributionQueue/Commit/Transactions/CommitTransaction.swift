import RedisClient

/// The commands and replies of a transaction (`WATCH`, `MULTI`, `EXEC`) that settles plain batches of several shards in one step, and the
/// conditions under which it may run.
///
/// ``questions`` watch the ownership and the events of each shard, and read what commit.lua checks before it changes anything.
/// ``commands(_:)`` are executed only if no watched key has changed since. So only the shard's owner settles a batch, and the ids of the
/// events, which the index must contain, can be chosen in advance. These ids contain the time of the questions. A caller that lists events
/// up to a later time therefore changes a watched key (``Keys/eventsListed``).
///
/// Natural keys are not watched. Only the queue ``QueueName/intake`` claims the natural keys of deliveries and removes claims, only the
/// owner of a shard settles its messages, and it settles one batch of a shard at a time.
struct CommitTransaction {
  /// The result of the questions about a batch.
  enum Finding: Equatable {
    /// It can be settled. Its events get ids after `last`. `hasNewBuckets`: a bucket of its natural keys does not exist yet and needs an
    /// expiry.
    case ready(last: EntryID, hasNewBuckets: Bool)
    /// It needs the script: another worker owns the shard, the stream has earlier messages, or a natural key was claimed before.
    case needsScript
  }

  /// The result of the questions about all batches.
  enum Findings: Equatable {
    case found([Finding])
    /// A subscription asks for the bytes that the sender sent, which only the script can store.
    case keepsOriginals
    /// Redis refused a question; the value is its error message.
    case refused(String)
    case unreadable
  }

  let batches: [PlainBatch]

  // MARK: Questions

  /// The number of replies that precede those about single batches.
  private static let commonReplies = 6

  var questions: EncodedCommands {
    var commands = EncodedCommands(reserving: batches.reduce(256) { $0 + 768 + 256 * $1.claims })
    // Without MULTI, EXEC's commands would be executed one by one. DISCARD removes the watches of an earlier transaction on the connection.
    commands.append("MULTI")
    commands.append("DISCARD")
    commands.append("WATCH", arguments: 1 + 3 * batches.count) { words in
      words.append(Keys.eventsListed)
      for batch in batches {
        words.append(Keys.ownership(batch.queue, batch.shard))
        words.append(Keys.events(batch.shard))
        words.append(Keys.originals(batch.shard))
      }
    }
    commands.append("MGET", arguments: batches.count) { words in
      for batch in batches { words.append(Keys.ownership(batch.queue, batch.shard)) }
    }
    commands.append("EXISTS", arguments: batches.count) { words in
      for batch in batches { words.append(Keys.originals(batch.shard)) }
    }
    commands.append("TIME")
    for batch in batches {
      commands.append("XRANGE", arguments: 5) { words in
        words.append(Keys.ready(batch.queue, batch.shard))
        words.append("-")
        words.append("(" + batch.items[0].entryID)
        words.append("COUNT")
        words.append("1")
      }
      commands.append("XINFO", arguments: 2) { words in
        words.append("STREAM")
        words.append(Keys.events(batch.shard))
      }
      guard !batch.buckets.isEmpty else { continue }
      commands.append("EXISTS", arguments: batch.buckets.count) { words in
        for bucket in batch.buckets { bucket.claim.append(.this, to: &words) }
      }
      for bucket in batch.buckets {
        for member in bucket.members {
          Self.ask(.last, member, bucket.claim, in: &commands)
          Self.ask(.this, member, bucket.claim, in: &commands)
        }
      }
    }
    return commands
  }

  /// Asks whether a natural key was claimed in a generation.
  private static func ask(
    _ generation: DeduplicationStore.Generation, _ member: Int64, _ claim: DeduplicationStore.Claim, in commands: inout EncodedCommands
  ) {
    commands.append("SISMEMBER", arguments: 2) { words in
      claim.append(generation, to: &words)
      words.append(member)
    }
  }

  /// Reads the replies to ``questions``.
  func findings(_ replies: [RedisReply]) -> Findings {
    guard replies.count > Self.commonReplies else { return .unreadable }
    if let refusal = replies[..<Self.commonReplies].lazy.compactMap(\.error).first { return .refused(refusal) }
    var owners = replies[3].elements
    guard let asked = replies[4].integer, let now = Self.milliseconds(replies[5]) else { return .unreadable }
    guard asked == 0 else { return .keepsOriginals }
    var rest = replies[Self.commonReplies...]
    var findings: [Finding] = []
    for batch in batches {
      let isOwner = owners.nextString() == batch.ownership.text
      guard let earlier = rest.popFirst(), let stream = rest.popFirst() else { return .unreadable }
      var isNew = true
      var hasNewBuckets = false
      if !batch.buckets.isEmpty {
        guard let existing = rest.popFirst()?.integer else { return .unreadable }
        hasNewBuckets = existing < Int64(batch.buckets.count)
        for _ in 0..<2 * batch.claims {
          guard let flag = rest.popFirst()?.integer else { return .unreadable }
          if flag != 0 { isNew = false }
        }
      }
      guard earlier.error == nil, earlier.elements.underestimatedCount == 0, isOwner, isNew, let last = Self.lastGeneratedID(stream),
        // No id can follow the greatest possible one.
        last.milliseconds < .max
      else {
        findings.append(.needsScript)
        continue
      }
      findings.append(.ready(last: max(last, EntryID(milliseconds: now, number: 0)), hasNewBuckets: hasNewBuckets))
    }
    return .found(findings)
  }

  /// The reply to `XINFO STREAM`: the highest id that the stream ever had. Nil if it cannot be read.
  private static func lastGeneratedID(_ reply: RedisReply) -> EntryID? {
    if let text = reply.error { return text == "ERR no such key" ? EntryID(milliseconds: 0, number: 0) : nil }
    var fields = reply.elements
    while let name = fields.nextString() {
      if name == "last-generated-id" { return fields.nextString().flatMap(EntryID.init) }
      fields.skip()
    }
    return nil
  }

  /// The reply to `TIME`, as milliseconds since 1970.
  private static func milliseconds(_ reply: RedisReply) -> UInt64? {
    var parts = reply.elements
    guard let seconds = parts.nextInteger(), let microseconds = parts.nextInteger() else { return nil }
    return UInt64(seconds * 1000 + microseconds / 1000)
  }

  // MARK: Commands

  /// The commands that settle the batches that are ready, or nil if none is.
  func commands(_ findings: [Finding]) -> EncodedCommands? {
    var commands = EncodedCommands(reserving: 64 + batches.reduce(0) { $0 + Self.size(of: $1) })
    commands.append("MULTI")
    var hasBatch = false
    for (batch, finding) in zip(batches, findings) {
      guard case .ready(let last, let hasNewBuckets) = finding else { continue }
      hasBatch = true
      Self.append(batch, eventsAfter: last, hasNewBuckets: hasNewBuckets, to: &commands)
    }
    guard hasBatch else { return nil }
    commands.append("EXEC")
    return commands
  }

  private static func size(of batch: PlainBatch) -> Int {
    batch.items.reduce(600) { $0 + $1.record.count + ($1.event?.json.count ?? 0) + 400 }
  }

  private static func append(_ batch: PlainBatch, eventsAfter last: EntryID, hasNewBuckets: Bool, to commands: inout EncodedCommands) {
    for bucket in batch.buckets {
      commands.append("SADD", arguments: 1 + bucket.members.count) { words in
        bucket.claim.append(.this, to: &words)
        for member in bucket.members { words.append(member) }
      }
      guard hasNewBuckets else { continue }
      commands.append("EXPIRE", arguments: 3) { words in
        bucket.claim.append(.this, to: &words)
        words.append(bucket.claim.expirySeconds)
        words.append("NX")
      }
    }
    let events = Keys.events(batch.shard)
    var id = last
    var index = EncodedArguments(reserving: 64 * batch.events)
    // Items are accessed by index, because copying an item is expensive.
    for place in batch.items.indices {
      if let event = batch.items[place].event {
        id = id.next
        append(event, id, to: events, in: &commands)
        index.append(event.id)
        index.append(id.text)
      }
      commands.append("SET", arguments: 4) { words in
        words.append(Keys.deliveries(batch.shard), batch.items[place].deliveryID.digest)
        words.append(batch.items[place].record)
        words.append("XX")
        words.append("KEEPTTL")
      }
    }
    if batch.events > 0 {
      commands.append("HSET", arguments: 1 + index.count) { words in
        words.append(Keys.eventsIndex(batch.shard))
        words.append(contentsOf: index)
      }
    }
    let ready = Keys.ready(batch.queue, batch.shard)
    commands.append("XTRIM", arguments: 3) { words in
      words.append(ready)
      words.append("MINID")
      words.append(batch.behind.text)
    }
    commands.append("XLEN", arguments: 1) { $0.append(ready) }
  }

  private static func append(_ event: EventRecord, _ id: EntryID, to stream: String, in commands: inout EncodedCommands) {
    commands.append("XADD", arguments: 2 + event.streamWords) { words in
      words.append(stream)
      words.append(id.text)
      event.appendFields(to: &words)
    }
  }

  // MARK: Execution

  /// The result of `EXEC`.
  enum Execution {
    /// Nothing was executed: a watched key has changed.
    case conflict
    /// Nothing was executed: Redis refused a command; the value is its error message.
    case refused(String)
    /// The outcome of each batch.
    case executed([BatchOutcome])
  }

  /// The outcome of a batch.
  enum BatchOutcome {
    /// It was not part of the transaction.
    case needsScript
    /// `left`: the number of messages left in the shard's ready stream. `expired`: messages whose record had expired and is not written
    /// yet.
    case settled(left: Int64, expired: [CommitItem])
    /// Redis executed some of its commands and refused others, because the keys were changed by hand.
    case incomplete
  }

  /// Reads the reply to `EXEC`. Throws if it is not that of ``commands(_:)``.
  func execution(_ reply: RedisReply, _ findings: [Finding]) throws(QueueError) -> Execution {
    if reply.isNull { return .conflict }
    if let text = reply.error {
      guard text.hasPrefix("EXECABORT") else { throw .unavailable(.refused(text)) }
      return .refused(text)
    }
    var parts = reply.elements
    var outcomes: [BatchOutcome] = []
    for (batch, finding) in zip(batches, findings) {
      guard case .ready(_, let hasNewBuckets) = finding else {
        outcomes.append(.needsScript)
        continue
      }
      outcomes.append(Self.outcome(of: batch, hasNewBuckets: hasNewBuckets, &parts))
    }
    return .executed(outcomes)
  }

  private static func outcome(of batch: PlainBatch, hasNewBuckets: Bool, _ parts: inout RedisReply.Elements) -> BatchOutcome {
    var isWhole = true
    for bucket in batch.buckets {
      if parts.nextInteger() != Int64(bucket.members.count) { isWhole = false }
      if hasNewBuckets { parts.skip() }
    }
    var expired: [CommitItem] = []
    for place in batch.items.indices {
      if batch.items[place].hasEvent, !parts.nextIsText() { isWhole = false }
      if !parts.nextIsText() { expired.append(batch.items[place]) }
    }
    if batch.events > 0, parts.nextInteger() == nil { isWhole = false }
    parts.skip()
    guard isWhole, let left = parts.nextInteger() else { return .incomplete }
    return .settled(left: left, expired: expired)
  }
}
