import RedisClient

/// The commands and replies of a transaction (`WATCH`, `MULTI`, `EXEC`) that settles plain batches of several shards in one step. This type
/// only encodes commands and reads replies; ``GroupCommit`` sends them.
///
/// ``checks`` are sent first: they watch the ownership and the events of each shard, and read what commit.lua checks before it changes
/// anything. ``findings(_:)`` reads their replies. ``commands(_:)`` then settle the batches; Redis executes them only if no watched key has
/// changed since. ``execution(_:_:)`` reads the result.
///
/// Because the ownership is watched, only the shard's owner settles a batch. Because the events are watched, the entry ids of the new
/// events, which the events index must contain, can be chosen in advance. These ids contain the time of the checks. A caller that lists
/// events up to a later time therefore changes a watched key (``Keys/eventsListed``), so that the transaction fails.
///
/// Natural keys need not be watched, because nothing else changes their claims: only the queue ``QueueName/intake`` claims the natural keys
/// of deliveries and removes claims, only the owner of a shard settles its messages, and it settles one batch of a shard at a time.
struct CommitTransaction {
  /// The result of the checks of a batch.
  enum Finding: Equatable {
    /// The batch can be settled. Its events get ids after `last`. `hasNewBuckets`: a bucket of its natural keys does not exist yet, so its
    /// expiry must be set.
    case ready(last: EntryID, hasNewBuckets: Bool)
    /// The batch needs commit.lua: another worker owns the shard, the stream has earlier messages, or a natural key was claimed before.
    case needsScript
  }

  /// The result of the checks of all batches.
  enum Findings: Equatable {
    /// One finding for each batch.
    case found([Finding])
    /// A subscription requests the bytes that the sender sent, which only commit.lua can store.
    case keepsOriginals
    /// Redis refused a check; the value is its error message.
    case refused(String)
    /// The replies are not those of the checks.
    case unreadable
  }

  let batches: [PlainBatch]

  // MARK: Checks

  /// The number of replies before those about single batches: MULTI, DISCARD, WATCH, MGET, EXISTS and TIME.
  private static let commonReplies = 6

  /// The commands that check whether the batches can be settled.
  var checks: EncodedCommands {
    var commands = EncodedCommands(reserving: batches.reduce(256) { $0 + 768 + 256 * $1.claimCount })
    // DISCARD removes the watches of an earlier transaction on the connection, and Redis accepts it only after MULTI. If the user may not
    // use MULTI, it is refused here: later, the commands after it would be executed one by one.
    commands.append("MULTI")
    commands.append("DISCARD")
    commands.append("WATCH", arguments: 1 + 3 * batches.count) { arguments in
      arguments.append(Keys.eventsListed)
      for batch in batches {
        arguments.append(Keys.ownership(batch.queue, batch.shard))
        arguments.append(Keys.events(batch.shard))
        arguments.append(Keys.originals(batch.shard))
      }
    }
    commands.append("MGET", arguments: batches.count) { arguments in
      for batch in batches { arguments.append(Keys.ownership(batch.queue, batch.shard)) }
    }
    commands.append("EXISTS", arguments: batches.count) { arguments in
      for batch in batches { arguments.append(Keys.originals(batch.shard)) }
    }
    commands.append("TIME")
    for batch in batches {
      commands.append("XRANGE", arguments: 5) { arguments in
        arguments.append(Keys.ready(batch.queue, batch.shard))
        arguments.append("-")
        arguments.append("(" + batch.items[0].entryID)
        arguments.append("COUNT")
        arguments.append("1")
      }
      commands.append("XINFO", arguments: 2) { arguments in
        arguments.append("STREAM")
        arguments.append(Keys.events(batch.shard))
      }
      guard !batch.buckets.isEmpty else { continue }
      commands.append("EXISTS", arguments: batch.buckets.count) { arguments in
        for bucket in batch.buckets { bucket.claim.append(.current, to: &arguments) }
      }
      for bucket in batch.buckets {
        for member in bucket.members {
          Self.appendCheck(of: .previous, member, bucket.claim, to: &commands)
          Self.appendCheck(of: .current, member, bucket.claim, to: &commands)
        }
      }
    }
    return commands
  }

  /// Appends the check whether a natural key was claimed in a generation.
  private static func appendCheck(
    of generation: DeduplicationStore.Generation, _ member: Int64, _ claim: DeduplicationStore.Claim, to commands: inout EncodedCommands
  ) {
    commands.append("SISMEMBER", arguments: 2) { arguments in
      claim.append(generation, to: &arguments)
      arguments.append(member)
    }
  }

  /// Reads the replies to ``checks``.
  func findings(_ replies: [RedisReply]) -> Findings {
    guard replies.count > Self.commonReplies else { return .unreadable }
    if let refusal = replies[..<Self.commonReplies].lazy.compactMap(\.error).first { return .refused(refusal) }
    var owners = replies[3].elements
    guard let originalsRequests = replies[4].integer, let now = Self.milliseconds(replies[5]) else { return .unreadable }
    guard originalsRequests == 0 else { return .keepsOriginals }
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
        for _ in 0..<2 * batch.claimCount {
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
      commands.append("SADD", arguments: 1 + bucket.members.count) { arguments in
        bucket.claim.append(.current, to: &arguments)
        for member in bucket.members { arguments.append(member) }
      }
      guard hasNewBuckets else { continue }
      commands.append("EXPIRE", arguments: 3) { arguments in
        bucket.claim.append(.current, to: &arguments)
        arguments.append(bucket.claim.expirySeconds)
        arguments.append("NX")
      }
    }
    let events = Keys.events(batch.shard)
    var id = last
    var indexFields = EncodedArguments(reserving: 64 * batch.eventCount)
    // Items are accessed by index, because copying an item is expensive.
    for index in batch.items.indices {
      if let event = batch.items[index].event {
        id = id.next
        append(event, id, to: events, in: &commands)
        indexFields.append(event.id)
        indexFields.append(id.text)
      }
      commands.append("SET", arguments: 4) { arguments in
        arguments.append(Keys.deliveries(batch.shard), batch.items[index].deliveryID.digest)
        arguments.append(batch.items[index].record)
        arguments.append("XX")
        arguments.append("KEEPTTL")
      }
    }
    if batch.eventCount > 0 {
      commands.append("HSET", arguments: 1 + indexFields.count) { arguments in
        arguments.append(Keys.eventsIndex(batch.shard))
        arguments.append(contentsOf: indexFields)
      }
    }
    let ready = Keys.ready(batch.queue, batch.shard)
    commands.append("XTRIM", arguments: 3) { arguments in
      arguments.append(ready)
      arguments.append("MINID")
      arguments.append(batch.nextID.text)
    }
    commands.append("XLEN", arguments: 1) { $0.append(ready) }
  }

  private static func append(_ event: EventRecord, _ id: EntryID, to stream: String, in commands: inout EncodedCommands) {
    commands.append("XADD", arguments: 2 + event.streamArgumentCount) { arguments in
      arguments.append(stream)
      arguments.append(id.text)
      event.appendFields(to: &arguments)
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
    /// The batch was not part of the transaction.
    case needsScript
    /// `remaining`: the number of messages left in the shard's ready stream. `expired`: the messages whose record had expired, so that it
    /// was not written.
    case settled(remaining: Int64, expired: [CommitItem])
    /// Redis executed some commands of the batch and refused others, because keys were changed by hand.
    case incomplete
  }

  /// Reads the reply to `EXEC`. Throws if it is an error after which it is not known whether the commands were executed.
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
    var isComplete = true
    for bucket in batch.buckets {
      if parts.nextInteger() != Int64(bucket.members.count) { isComplete = false }
      if hasNewBuckets { parts.skip() }
    }
    var expired: [CommitItem] = []
    for index in batch.items.indices {
      if batch.items[index].hasEvent, !parts.nextIsText() { isComplete = false }
      if !parts.nextIsText() { expired.append(batch.items[index]) }
    }
    if batch.eventCount > 0, parts.nextInteger() == nil { isComplete = false }
    parts.skip()
    guard isComplete, let remaining = parts.nextInteger() else { return .incomplete }
    return .settled(remaining: remaining, expired: expired)
  }
}
