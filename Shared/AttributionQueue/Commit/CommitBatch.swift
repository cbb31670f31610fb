import RedisClient
import WireJSON

/// The words of one call of `commit`: messages of one shard, in the order of its stream, and what becomes of each.
struct CommitBatch {
  /// By what a worker may settle messages.
  enum Holder: Sendable {
    /// It owns their shard, and they are the first of its stream.
    case owner(ShardOwnership)
    /// It has leased each of them as this consumer.
    case consumer(String)
  }

  let queue: QueueName
  let shard: Shard
  private(set) var works: [Work] = []
  /// When the first of those that are delayed is due.
  private(set) var due: Int64?
  /// Whether one of them leaves a dead letter.
  private(set) var leavesDeadLetter = false
  /// Lines in which one of them may be unfinished afterwards.
  private(set) var unfinishedLines: Set<String> = []
  /// Whether the messages follow one another from the stream's first entry on.
  private let isFirst: Bool
  private let configuration: QueueConfiguration
  private let deduplication: DeduplicationStore
  /// The moment by which natural keys are claimed: one for all, or a clock that is set back could have two of a call claim one key in two
  /// generations.
  private let now: Int64
  /// The last message's place in the stream.
  private(set) var position = EntryID(milliseconds: 0, number: 0)
  /// The texts that stand behind what is packed.
  private var texts: EncodedArguments
  private var columns = CommitColumns()
  private var buckets: CommitBuckets
  private var json = JSONWriter(reserving: 512)

  /// - Parameters:
  ///   - many: how many messages there may be, for the room.
  ///   - isFirst: whether the messages follow one another from the stream's first entry on, where their shard is owned.
  init(_ queue: QueueName, _ shard: Shard, many: Int, isFirst: Bool = true, _ deliveries: DeliveryQueue) {
    self.isFirst = isFirst
    self.queue = queue
    self.shard = shard
    configuration = deliveries.configuration
    deduplication = deliveries.deduplication
    now = DeliveryQueue.now
    texts = EncodedArguments(reserving: 2000 * many)
    buckets = CommitBuckets(now: now)
    works.reserveCapacity(many)
  }

  var isEmpty: Bool { works.isEmpty }

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
    keys.append(Keys.rejected(shard))
    keys.append(Keys.suspects(queue, shard))
    keys.append(Keys.absent(shard))
    keys.append(Keys.originals(shard))
    return keys
  }

  /// The script's arguments.
  func arguments(_ holder: Holder) -> EncodedArguments {
    var arguments = EncodedArguments(reserving: 1024)
    arguments.append(common(holder))
    arguments.append(contentsOf: texts)
    return arguments
  }

  private func common(_ holder: Holder) -> [UInt8] {
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
    pack.put("behind", position.next.text)
    pack.put("lines", Keys.lines(queue, shard))
    pack.put("recordSeconds", String(configuration.deliveryRecordTTL.wholeSeconds))
    // A few over all shards are one in each; none are none.
    pack.put("rejectedBodies", min(configuration.rejectedBodies, max(1, configuration.rejectedBodies / Shard.count)))
    pack.put("rejectedBytes", configuration.rejectedBodyBytes)
    buckets.write(to: &pack)
    columns.write(to: &pack)
    pack.end()
    return pack.bytes
  }

  // MARK: What becomes of a message

  /// Completes it.
  mutating func complete(
    _ message: LeasedMessage, _ completion: Completion, isSuspected: Bool = false, isOrdered: Bool = false,
    started: ContinuousClock.Instant = .now, now: Int64
  ) {
    begin(message, isOrdered: isOrdered)
    if isOrdered, completion.whenSeen != nil, let line = message.line { unfinishedLines.insert(line) }
    json.removeAll()
    DeliveryRecord.write(
      to: &json, state: completion.state, queue: queue.rawValue, kind: message.message.kind, acceptedAt: message.message.receivedAt,
      completedAt: now, attempts: message.attempt, eventId: completion.recordedEventId ?? completion.events.first?.id,
      reason: completion.reason, lastError: message.lastError)
    texts.append(json.bytes)
    // Of one that was accepted a moment ago the time that its record is kept runs already: to set it anew costs Redis more than the rest.
    if now - message.message.receivedAt > configuration.deliveryRecordTTL.milliseconds / 24 { columns.isLate(at: place) }
    if let event = completion.events.first {
      texts.append(event.json)
      columns.put(event, keepsOriginal: completion.keepsOriginal && OriginalBody.isKnown(of: message.message), at: place)
    } else {
      texts.append("")
    }
    if let naturalKey = completion.naturalKey {
      let store: DeduplicationScope = completion.rememberLong ? .notification : .delivery
      let claim = deduplication.claim(naturalKey, in: deduplication.generations(store, shard: shard, now: self.now))
      columns.put(claim, bucket: buckets.number(of: claim), at: place)
      if let detail = completion.detail, configuration.unsignedDigests, !completion.rememberLong {
        columns.put(deduplication.detail(detail, of: naturalKey, shard: shard, now: self.now), at: place)
      }
    }
    end(
      other(message, completion, isSuspected: isSuspected),
      Work(
        entryID: message.entryID, message: message, isSuspected: isSuspected, isOrdered: isOrdered, started: started,
        word: completion.word ?? completion.state.rawValue, whenSeen: completion.whenSeen, isEnd: true,
        reason: completion.state == .rejected ? completion.reason : nil, countedValues: completion.countedValues))
  }

  /// What few messages have of a completion.
  private mutating func other(_ message: LeasedMessage, _ completion: Completion, isSuspected: Bool) -> MessagePackWriter {
    var pack = MessagePackWriter(reserving: 0)
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
    if completion.naturalKey != nil, completion.whenSeen != nil { pack.put(flag: "holds") }
    if completion.mayBeJudgedAnew, let digits = message.message.claim { pack.writeForgotten(digits, deduplication, shard, now: now) }
    if completion.keepsBody { pack.put(flag: "keepsBody") }
    if let own = completion.ownRecord {
      pack.put("own") { pack in
        pack.put("key", Keys.own(own.service, own.name, shard))
        pack.put("value", own.value)
        pack.put("seconds", Int(own.life.wholeSeconds))
      }
    }
    if let letter = completion.deadLetter {
      pack.put("letter", DeliveryQueue.oneLine(letter))
      pack.put("attempts", message.attempt)
      leavesDeadLetter = true
    }
    pack.end()
    return pack
  }

  /// Puts it off: as another attempt that failed, or untouched where there is no error. One that keeps its order keeps its place, or takes
  /// the first. `word`, `meanwhile`: see ``Work``.
  mutating func delay(
    _ message: LeasedMessage, _ delay: Duration, error: String?, word: String, isSuspected: Bool = false, isOrdered: Bool = false,
    meanwhile: (@Sendable () async -> Void)? = nil, started: ContinuousClock.Instant = .now
  ) {
    if isOrdered, let line = message.line { unfinishedLines.insert(line) }
    let now = DeliveryQueue.now
    let due = now + max(0, delay.milliseconds)
    self.due = min(self.due ?? due, due)
    begin(message, isOrdered: isOrdered)
    var pack = attempt(of: message, error, isSuspected: isSuspected, now: now, state: nil)
    pack.put("due", String(due))
    pack.end()
    end(pack, Work(entryID: message.entryID, message: message, started: started, word: word, meanwhile: meanwhile))
  }

  /// Has it wait for what is unfinished of its order key.
  mutating func wait(_ message: LeasedMessage, isSuspected: Bool, started: ContinuousClock.Instant) {
    if let line = message.line { unfinishedLines.insert(line) }
    begin(message, isOrdered: true)
    var pack = MessagePackWriter(reserving: 64)
    pack.beginMap()
    if isSuspected { pack.put(flag: "suspected") }
    pack.put(flag: "waits")
    pack.end()
    putNoTexts()
    end(pack, Work(entryID: message.entryID, message: message, started: started, word: Self.waiting))
  }

  /// The word of one that waits for its turn.
  static let waiting = "waiting"

  /// Makes a dead letter of it.
  mutating func addDeadLetter(
    _ message: LeasedMessage, error: String, isSuspected: Bool = false, isOrdered: Bool = false, started: ContinuousClock.Instant = .now
  ) {
    begin(message, isOrdered: isOrdered)
    var pack = attempt(of: message, error, isSuspected: isSuspected, now: DeliveryQueue.now, state: .dead)
    pack.put("dead", DeliveryQueue.oneLine(error))
    pack.end()
    leavesDeadLetter = true
    end(pack, Work(entryID: message.entryID, message: message, started: started, word: "dead", death: error, isEnd: true))
  }

  /// The same of an entry that is no message.
  mutating func addDeadLetter(_ entry: UnreadableEntry, delivered: Int64, started: ContinuousClock.Instant = .now) {
    let id = entry.letterID(in: shard)
    columns.begin(entry.entryID, id, line: entry.line, lineId: entry.line == nil ? nil : entry.id, at: place)
    columns.put(delivered: delivered, at: place)
    var pack = MessagePackWriter(reserving: 64)
    pack.beginMap()
    pack.put("unreadable", UnreadableEntry.reason)
    if !entry.canBePutBack(in: shard) { pack.put(flag: "final") }
    pack.end()
    let record = DeliveryRecord(
      id: id, state: .dead, queue: queue.rawValue, kind: entry.kind ?? "", completedAt: now, attempts: Int(delivered),
      lastError: UnreadableEntry.reason)
    texts.append(record.json)
    texts.append("")
    leavesDeadLetter = true
    end(pack, Work(entryID: entry.entryID, message: nil, started: started, word: "dead", death: UnreadableEntry.reason))
  }

  /// The place of the message that is being written.
  private var place: Int { works.count }

  private mutating func begin(_ message: LeasedMessage, isOrdered: Bool) { columns.begin(message, isOrdered: isOrdered, at: place) }

  /// Begins what is said of an attempt; its texts are the record, where one is written.
  private mutating func attempt(
    of message: LeasedMessage, _ error: String?, isSuspected: Bool, now: Int64, state: DeliveryState?
  ) -> MessagePackWriter {
    var pack = MessagePackWriter(reserving: 512)
    pack.beginMap()
    if isSuspected { pack.put(flag: "suspected") }
    pack.put("attempts", error == nil ? message.attempt - 1 : message.attempt)
    guard let error = error.map(DeliveryQueue.oneLine) else {
      pack.put("history", message.history)
      putNoTexts()
      return pack
    }
    pack.put("history", Self.history(message.history, now, error))
    var record = DeliveryRecord(message)
    record.lastError = error
    if let state {
      record.state = state
      record.completedAt = now
    }
    columns.isLate(at: place)
    texts.append(record.json)
    texts.append("")
    return pack
  }

  private mutating func putNoTexts() {
    texts.append("")
    texts.append("")
  }

  /// - Parameter other: a map of what few messages have.
  private mutating func end(_ other: MessagePackWriter, _ work: Work) {
    if !other.isEmptyMap { columns.put(other: other, at: place) }
    if let id = EntryID(work.entryID) { position = id }
    works.append(work)
  }
}
