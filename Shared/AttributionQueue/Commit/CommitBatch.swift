import RedisClient
import WireJSON

/// Messages of one shard in stream order, and the outcome of each: what one call of `commit` (commit.lua) settles.
///
/// ``Settlement`` adds an outcome for each message with the functions below, such as `complete` and `delay`. Then it sends ``keys`` and
/// ``arguments(_:)`` to commit.lua, which describes them.
struct CommitBatch {
  /// The right by which a worker settles messages.
  enum Holder: Sendable {
    /// The worker owns the shard, and the messages are the first of its stream.
    case owner(ShardOwnership)
    /// The worker has leased each message under this consumer name.
    case consumer(String)
  }

  let queue: QueueName
  let shard: Shard
  /// What is needed about each message after `commit`; ``items`` has the same indices.
  private(set) var entries: [Entry] = []
  /// The earliest due time among the messages that are delayed.
  private(set) var due: Int64?
  /// True if at least one message becomes a dead letter.
  private(set) var leavesDeadLetter = false
  /// Order lines in which a message may still be unfinished after the commit.
  private(set) var unfinishedLines: Set<String> = []
  /// True if the messages are consecutive from the stream's first entry on.
  let isFirst: Bool
  private let configuration: QueueConfiguration
  private let deduplication: DeduplicationStore
  /// The time that decides the generation of all claims, milliseconds since 1970. It is read once per batch: if the clock were set back
  /// between two reads, two messages of the batch could claim the same key in two generations.
  let now: Int64
  /// The arguments of `commit` about each message.
  private(set) var items: [CommitItem] = []
  private var json = JSONWriter(reserving: 512)

  /// - Parameters:
  ///   - expectedCount: the expected number of messages, to reserve memory.
  ///   - isFirst: true if the messages are consecutive from the stream's first entry on, where their shard is owned.
  init(_ queue: QueueName, _ shard: Shard, expectedCount: Int, isFirst: Bool = true, _ deliveries: DeliveryQueue) {
    self.isFirst = isFirst
    self.queue = queue
    self.shard = shard
    configuration = deliveries.configuration
    deduplication = deliveries.deduplication
    now = DeliveryQueue.now
    entries.reserveCapacity(expectedCount)
    items.reserveCapacity(expectedCount)
  }

  var isEmpty: Bool { entries.isEmpty }

  /// The id of the last stream entry whose id can be read. Ids are kept as text, and only this one is parsed.
  var position: EntryID {
    for index in entries.indices.reversed() {
      if let id = EntryID(entries[index].entryID) { return id }
    }
    return EntryID(milliseconds: 0, number: 0)
  }

  /// The expiry of delivery records, seconds.
  var recordSeconds: Int64 { configuration.deliveryRecordTTL.wholeSeconds }

  /// The script's keys.
  var keys: EncodedArguments {
    var keys = EncodedArguments(reserving: 400)
    keys.append(Keys.ownership(queue, shard))
    keys.append(Keys.ready(queue, shard))
    keys.append(Keys.delayed(queue, shard))
    keys.append(Keys.payloads(queue, shard))
    keys.append(Keys.dead(queue, shard))
    keys.append(Keys.events(shard))
    keys.append(Keys.eventsIndex(shard))
    keys.append(Keys.rejectedBodies(shard))
    keys.append(Keys.suspects(queue, shard))
    keys.append(Keys.absent(shard))
    keys.append(Keys.originals(shard))
    keys.append(Keys.rejectedIndex(shard))
    keys.append(Keys.rejectedSizes(shard))
    return keys
  }

  /// The script's arguments.
  func arguments(_ holder: Holder) -> EncodedArguments {
    var arguments = EncodedArguments(reserving: 1024)
    arguments.append(commonFields(holder))
    var texts = EncodedArguments(reserving: items.reduce(0) { $0 + $1.record.count + ($1.event?.json.count ?? 0) + 32 })
    for item in items {
      texts.append(item.record)
      if let event = item.event { texts.append(event.json) } else { texts.append("") }
    }
    arguments.append(contentsOf: texts)
    return arguments
  }

  /// The map in MessagePack that commit.lua describes.
  private func commonFields(_ holder: Holder) -> [UInt8] {
    var pack = MessagePackWriter(reserving: 640)
    pack.beginMap()
    switch holder {
    case .owner(let ownership):
      pack.put("owner", ownership.text)
      if isFirst { pack.put(flag: "first") }
    case .consumer(let name):
      pack.put("group", DeliveryQueue.group)
      pack.put("consumer", name)
    }
    pack.put("now", String(now))
    pack.put("nextId", position.next.text)
    pack.put("lines", Keys.lines(queue, shard))
    pack.put("recordSeconds", String(recordSeconds))
    pack.put("rejectedBytes", configuration.rejectedBytes / Shard.count)
    var buckets = CommitBuckets(now: now)
    let columns = CommitColumns(items, &buckets)
    buckets.write(to: &pack)
    columns.write(to: &pack)
    pack.end()
    return pack.bytes
  }

  // MARK: Outcomes of a message

  /// Completes the message.
  mutating func complete(
    _ message: LeasedMessage, _ completion: consuming Completion, isSuspected: Bool = false, isOrdered: Bool = false,
    started: ContinuousClock.Instant = .now, now: Int64
  ) {
    if isOrdered, completion.whenClaimedBefore != nil, let line = message.line { unfinishedLines.insert(line) }
    var item = CommitItem(message, isOrdered: isOrdered)
    json.removeAll()
    DeliveryRecord.write(
      to: &json, state: completion.state, queue: queue.rawValue, kind: message.message.kind, acceptedAt: message.message.receivedAt,
      completedAt: now, attempts: message.attempt, eventId: completion.recordedEventId ?? completion.events.first?.id,
      reason: completion.reason, lastError: message.lastError, earlierRejection: message.message.attributes[EarlierRejection.attribute])
    item.record = json.bytes
    // The record of a message that was accepted a moment ago has an expiry already. Setting it again is expensive for Redis.
    if now - message.message.receivedAt > configuration.deliveryRecordTTL.milliseconds / 24 { item.isLate = true }
    item.publish(completion.events.first)
    item.keepsOriginal = item.hasEvent && completion.keepsOriginal && OriginalBody.isKnown(of: message.message)
    if let naturalKey = completion.naturalKey {
      let scope: DeduplicationScope = completion.rememberLong ? .notification : .delivery
      item.claim = deduplication.claim(naturalKey, in: deduplication.generations(scope, shard: shard, now: self.now))
      if let detail = completion.detail, configuration.unsignedDigests, !completion.rememberLong {
        item.detail = deduplication.detail(detail, of: naturalKey, shard: shard, now: self.now)
      }
      item.staysIfClaimed = completion.whenClaimedBefore != nil
    }
    item.other = rareFields(message, completion, isSuspected: isSuspected, now: now)
    append(
      item,
      Entry(
        entryID: message.entryID, message: message, isSuspected: isSuspected, isOrdered: isOrdered, started: started,
        outcomeLabel: completion.outcomeLabel ?? completion.state.rawValue, whenClaimedBefore: completion.whenClaimedBefore,
        isFinished: true, rejectionReason: completion.state == .rejected ? completion.reason : nil,
        countedValues: completion.countedValues))
  }

  /// Writes the fields of a completion that few messages have (`other` in commit.lua); nil if it has none.
  private mutating func rareFields(
    _ message: LeasedMessage, _ completion: Completion, isSuspected: Bool, now: Int64
  ) -> MessagePackWriter? {
    let hasAny =
      isSuspected || completion.events.count > 1 || completion.mayBeAcceptedAgain || completion.keptBody != nil
      || completion.ownRecord != nil || completion.deadLetter != nil
    guard hasAny else { return nil }
    var pack = MessagePackWriter()
    pack.beginMap()
    if isSuspected { pack.put(flag: "suspected") }
    if completion.events.count > 1 {
      pack.key("more")
      pack.beginList()
      for event in completion.events.dropFirst() {
        pack.element()
        pack.write(event)
      }
      pack.end()
    }
    if completion.mayBeAcceptedAgain, let digits = message.message.claim {
      pack.writeForgotten(digits, deduplication, shard, now: self.now)
    }
    if let kept = completion.keptBody { write(kept, of: message, completion, now: now, to: &pack) }
    if let own = completion.ownRecord {
      pack.put("own") { pack in
        pack.put("key", Keys.own(own.service, own.name, shard))
        pack.put("value", own.value)
        pack.put("seconds", Int(own.ttl.wholeSeconds))
      }
    }
    if let text = completion.deadLetter {
      pack.put("deadLetter", DeliveryQueue.oneLine(text))
      pack.put("attempts", message.attempt)
      leavesDeadLetter = true
    }
    pack.end()
    return pack
  }

  /// Writes `kept` of a rejected delivery. If it was judged again and rejected for the same reason, it keeps the time of the rejection.
  private func write(
    _ kept: KeptBody, of message: LeasedMessage, _ completion: Completion, now: Int64, to pack: inout MessagePackWriter
  ) {
    let reason = completion.reason ?? ""
    let earlier = message.message.earlierRejection
    pack.put("kept") { pack in
      pack.put("reason", reason)
      pack.put("event", completion.recordedEventId ?? completion.events.first?.id ?? "")
      pack.put(
        "entry",
        RejectedDelivery.entry(
          kind: message.message.kind, reason: reason, environment: kept.environment,
          time: earlier?.reason == reason ? earlier?.time ?? now : now, id: message.deliveryID))
    }
  }

  /// Delays the message. With an error, this counts as a failed attempt; without one, nothing is counted. If `isOrdered`, the message stays
  /// the first of its order line, or becomes the first if the line is empty. `outcomeLabel`, `deferredWork`: see ``Entry``.
  mutating func delay(
    _ message: LeasedMessage, _ delay: Duration, error: String?, outcomeLabel: String, isSuspected: Bool = false, isOrdered: Bool = false,
    deferredWork: (@Sendable () async -> Void)? = nil, started: ContinuousClock.Instant = .now
  ) {
    if isOrdered, let line = message.line { unfinishedLines.insert(line) }
    let now = DeliveryQueue.now
    let due = now + max(0, delay.milliseconds)
    self.due = min(self.due ?? due, due)
    var item = CommitItem(message, isOrdered: isOrdered)
    var pack = attempt(of: message, error, isSuspected: isSuspected, now: now, state: nil, in: &item)
    pack.put("due", String(due))
    pack.end()
    item.other = pack
    append(
      item, Entry(entryID: message.entryID, message: message, started: started, outcomeLabel: outcomeLabel, deferredWork: deferredWork))
  }

  /// Lets the message wait until the unfinished earlier messages of its order key are finished.
  mutating func wait(_ message: LeasedMessage, isSuspected: Bool, started: ContinuousClock.Instant) {
    if let line = message.line { unfinishedLines.insert(line) }
    var item = CommitItem(message, isOrdered: true)
    var pack = MessagePackWriter(reserving: 64)
    pack.beginMap()
    if isSuspected { pack.put(flag: "suspected") }
    pack.put(flag: "waits")
    pack.end()
    item.other = pack
    append(item, Entry(entryID: message.entryID, message: message, started: started, outcomeLabel: Self.waiting))
  }

  /// The `outcome` label of a message that waits for earlier messages of its order key.
  static let waiting = "waiting"

  /// Makes the message a dead letter.
  mutating func addDeadLetter(
    _ message: LeasedMessage, error: String, isSuspected: Bool = false, isOrdered: Bool = false, started: ContinuousClock.Instant = .now
  ) {
    var item = CommitItem(message, isOrdered: isOrdered)
    var pack = attempt(of: message, error, isSuspected: isSuspected, now: DeliveryQueue.now, state: .dead, in: &item)
    pack.put("dead", DeliveryQueue.oneLine(error))
    pack.end()
    leavesDeadLetter = true
    item.other = pack
    append(
      item,
      Entry(
        entryID: message.entryID, message: message, started: started, outcomeLabel: "dead", deadLetterError: error, isFinished: true))
  }

  /// Makes an entry that cannot be read a dead letter.
  mutating func addDeadLetter(_ entry: UnreadableEntry, delivered: Int64, started: ContinuousClock.Instant = .now) {
    let id = entry.deadLetterID(in: shard)
    var item = CommitItem(entry, id, delivered: delivered)
    var pack = MessagePackWriter(reserving: 64)
    pack.beginMap()
    pack.put("unreadable", UnreadableEntry.reason)
    if !entry.isReplayable(in: shard) { pack.put(flag: "final") }
    pack.end()
    let record = DeliveryRecord(
      id: id, state: .dead, queue: queue.rawValue, kind: entry.kind ?? "", completedAt: now, attempts: Int(delivered),
      lastError: UnreadableEntry.reason)
    item.record = record.json
    item.other = pack
    leavesDeadLetter = true
    append(
      item,
      Entry(
        entryID: entry.entryID, message: nil, started: started, outcomeLabel: "dead", deadLetterError: UnreadableEntry.reason))
  }

  /// Begins the map of fields about an attempt. Sets the item's record if the attempt failed.
  private func attempt(
    of message: LeasedMessage, _ error: String?, isSuspected: Bool, now: Int64, state: DeliveryState?, in item: inout CommitItem
  ) -> MessagePackWriter {
    var pack = MessagePackWriter(reserving: 512)
    pack.beginMap()
    if isSuspected { pack.put(flag: "suspected") }
    pack.put("attempts", error == nil ? message.attempt - 1 : message.attempt)
    guard let error = error.map(DeliveryQueue.oneLine) else {
      pack.put("history", message.history)
      return pack
    }
    pack.put("history", Self.history(message.history, now, error))
    var record = DeliveryRecord(message)
    record.lastError = error
    if let state {
      record.state = state
      record.completedAt = now
    }
    item.isLate = true
    item.record = record.json
    return pack
  }

  private mutating func append(_ item: consuming CommitItem, _ entry: consuming Entry) {
    items.append(item)
    entries.append(entry)
  }
}
