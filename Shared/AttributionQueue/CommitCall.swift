import RedisClient
import WireJSON

/// The words of one call of `commit`: messages of one shard, in the order of its stream, and what becomes of each.
struct CommitCall {
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
  private let seen: SeenBefore
  /// The moment by which natural keys are claimed: one for all, or a clock that is set back could have two of a call claim one key in two
  /// generations.
  private let now: Int64
  /// The last message's place in the stream.
  private(set) var position = EntryID(milliseconds: 0, number: 0)
  private var words: RedisWords
  /// The texts of the message that is being written.
  private var texts = RedisWords(reserving: 2048)
  /// The stores of natural keys that are needed.
  private var stores: Set<SeenStore> = []
  private var json = JSONWriter(reserving: 512)

  /// - Parameters:
  ///   - many: how many messages there may be, for the room.
  ///   - isFirst: whether the messages follow one another from the stream's first entry on, where their shard is owned.
  init(_ queue: QueueName, _ shard: Shard, many: Int, isFirst: Bool = true, _ deliveries: DeliveryQueue) {
    self.isFirst = isFirst
    self.queue = queue
    self.shard = shard
    configuration = deliveries.configuration
    seen = deliveries.seen
    now = DeliveryQueue.now
    words = RedisWords(reserving: 2500 * many)
    works.reserveCapacity(many)
  }

  var isEmpty: Bool { works.isEmpty }

  /// The script's keys.
  var keys: RedisWords {
    var keys = RedisWords(reserving: 400)
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
  func arguments(_ holder: Holder) -> RedisWords {
    var arguments = RedisWords(reserving: 1024)
    arguments.append(common(holder))
    arguments.append(contentsOf: words)
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
    pack.put("deliveries", Keys.deliveries(shard))
    pack.put("lines", Keys.lines(queue, shard))
    pack.put("recordSeconds", String(configuration.deliveryRecordTTL.wholeSeconds))
    // A few over all shards are one in each; none are none.
    pack.put("rejectedBodies", min(configuration.rejectedBodies, max(1, configuration.rejectedBodies / Shard.count)))
    pack.put("rejectedBytes", configuration.rejectedBodyBytes)
    pack.put("seen") { pack in
      if stores.contains(.delivery) { write(seen.generations(.delivery, shard: shard, now: now), as: "d", to: &pack) }
      if stores.contains(.notification) { write(seen.generations(.notification, shard: shard, now: now), as: "n", to: &pack) }
    }
    pack.end()
    return pack.bytes
  }

  private func write(_ generations: SeenBefore.Generations, as store: StaticString, to pack: inout MessagePackWriter) {
    pack.put(store) { pack in
      pack.put("this", generations.prefixes[SeenBefore.Generation.this.rawValue])
      pack.put("last", generations.prefixes[SeenBefore.Generation.last.rawValue])
      if generations.mayBeOver(now: now) { pack.put("next", generations.prefixes[SeenBefore.Generation.next.rawValue]) }
      pack.put("seconds", String(generations.expirySeconds))
    }
  }

  // MARK: What becomes of a message

  /// Completes it.
  mutating func complete(
    _ message: LeasedMessage, _ completion: Completion, isSuspected: Bool = false, isOrdered: Bool = false,
    started: ContinuousClock.Instant = .now, now: Int64
  ) {
    var pack = begin(
      message, isSuspected: isSuspected, isOrdered: isOrdered, reserving: 512 + completion.events.reduce(0) { $0 + $1.json.count })
    if isOrdered, completion.whenSeen != nil, let line = message.line { unfinishedLines.insert(line) }
    json.removeAll()
    DeliveryRecord.write(
      to: &json, state: completion.state, queue: queue.rawValue, kind: message.message.kind, acceptedAt: message.message.receivedAt,
      completedAt: now, attempts: message.attempt, eventId: completion.recordedEventId ?? completion.events.first?.id,
      reason: completion.reason, lastError: message.lastError)
    put("record", json.bytes, in: &pack)
    if !completion.events.isEmpty {
      pack.key("events")
      pack.beginList()
      for place in completion.events.indices {
        pack.element()
        pack.beginMap()
        pack.put("id", completion.events[place].id)
        pack.put("type", completion.events[place].type)
        put("json", completion.events[place].json, in: &pack)
        let attributes = completion.events[place].attributes
        if let network = attributes.adNetworkId { pack.put("network", network) }
        if let app = attributes.appAppleId { pack.put("app", String(app)) }
        if let bundle = attributes.bundleId { pack.put("bundle", bundle) }
        if let environment = attributes.environment { pack.put("environment", environment) }
        pack.end()
      }
      pack.end()
    }
    if let naturalKey = completion.naturalKey {
      let store: SeenStore = completion.rememberLong ? .notification : .delivery
      stores.insert(store)
      pack.put("natural") { pack in
        pack.put("store", store.rawValue)
        pack.write(seen.claim(naturalKey, in: seen.generations(store, shard: shard, now: self.now)))
        if let detail = completion.detail, configuration.unsignedDigests, !completion.rememberLong {
          pack.write(seen.detail(detail, of: naturalKey, shard: shard, now: self.now))
        }
      }
      if completion.whenSeen != nil { pack.put(flag: "holds") }
    }
    if completion.mayBeJudgedAnew, let digits = message.message.claim {
      pack.writeForgotten(digits, seen, shard, now: self.now)
    }
    if completion.keepsBody { pack.put(flag: "keepsBody") }
    if completion.keepsOriginal, OriginalBody.isKnown(of: message.message) { pack.put(flag: "keepsOriginal") }
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
    end(
      &pack,
      Work(
        entryID: message.entryID, message: message, isSuspected: isSuspected, isOrdered: isOrdered, started: started,
        word: completion.word ?? completion.state.rawValue, whenSeen: completion.whenSeen))
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
    var pack = begin(message, isSuspected: isSuspected, isOrdered: isOrdered, reserving: 1024)
    pack.put("due", String(due))
    writeAttempt(of: message, error, now: now, state: nil, to: &pack)
    end(&pack, Work(entryID: message.entryID, message: message, started: started, word: word, meanwhile: meanwhile))
  }

  /// Has it wait for what is unfinished of its order key.
  mutating func wait(_ message: LeasedMessage, isSuspected: Bool, started: ContinuousClock.Instant) {
    if let line = message.line { unfinishedLines.insert(line) }
    var pack = begin(message, isSuspected: isSuspected, isOrdered: true, reserving: 256)
    pack.put(flag: "waits")
    end(&pack, Work(entryID: message.entryID, message: message, started: started, word: Self.waiting))
  }

  /// The word of one that waits for its turn.
  static let waiting = "waiting"

  /// Makes a dead letter of it.
  mutating func bury(
    _ message: LeasedMessage, error: String, isSuspected: Bool = false, isOrdered: Bool = false, started: ContinuousClock.Instant = .now
  ) {
    var pack = begin(message, isSuspected: isSuspected, isOrdered: isOrdered, reserving: 1024)
    pack.put("dead", DeliveryQueue.oneLine(error))
    writeAttempt(of: message, error, now: DeliveryQueue.now, state: .dead, to: &pack)
    leavesDeadLetter = true
    end(&pack, Work(entryID: message.entryID, message: message, started: started, word: "dead", death: error))
  }

  /// The same of an entry that is no message.
  mutating func bury(_ entry: UnreadableEntry, delivered: Int64, started: ContinuousClock.Instant = .now) {
    let id = entry.letterID(in: shard)
    var pack = MessagePackWriter(reserving: 512)
    pack.beginMap()
    pack.put("entry", entry.entryID)
    pack.put("delivered", Int(delivered))
    pack.put("id", id.description)
    pack.key("digest")
    pack.string(id.digest)
    if let line = entry.line {
      pack.put("line", line)
      pack.put("lineId", entry.id)
    }
    pack.put("unreadable", UnreadableEntry.reason)
    if !entry.canBePutBack(in: shard) { pack.put(flag: "final") }
    let record = DeliveryRecord(
      id: id, state: .dead, queue: queue.rawValue, kind: entry.kind ?? "", completedAt: now, attempts: Int(delivered),
      lastError: UnreadableEntry.reason)
    put("record", record.json, in: &pack)
    leavesDeadLetter = true
    end(&pack, Work(entryID: entry.entryID, message: nil, started: started, word: "dead", death: UnreadableEntry.reason))
  }

  private func begin(_ message: LeasedMessage, isSuspected: Bool, isOrdered: Bool, reserving capacity: Int) -> MessagePackWriter {
    var pack = MessagePackWriter(reserving: capacity)
    pack.beginMap()
    pack.put("entry", message.entryID)
    if !message.consumer.isEmpty { pack.put("delivered", Int(message.deliveryCount)) }
    pack.put("id", message.deliveryID.description)
    pack.key("digest")
    pack.string(message.deliveryID.digest)
    if let line = message.line { pack.put("line", line) }
    if isOrdered { pack.put(flag: "ordered") }
    if isSuspected { pack.put(flag: "suspected") }
    return pack
  }

  private mutating func writeAttempt(
    of message: LeasedMessage, _ error: String?, now: Int64, state: DeliveryState?, to pack: inout MessagePackWriter
  ) {
    pack.put("attempts", error == nil ? message.attempt - 1 : message.attempt)
    guard let error = error.map(DeliveryQueue.oneLine) else { return pack.put("history", message.history) }
    pack.put("history", Self.history(message.history, now, error))
    var record = DeliveryRecord(message)
    record.lastError = error
    if let state {
      record.state = state
      record.completedAt = now
    }
    put("record", record.json, in: &pack)
  }

  /// Writes a text, and how far it stands behind its message.
  private mutating func put(_ key: StaticString, _ text: [UInt8], in pack: inout MessagePackWriter) {
    texts.append(text)
    pack.put(key, texts.count)
  }

  private mutating func end(_ pack: inout MessagePackWriter, _ work: Work) {
    pack.put("texts", texts.count)
    pack.end()
    words.append(pack.bytes)
    words.append(contentsOf: texts)
    texts.removeAll()
    if let id = EntryID(work.entryID) { position = id }
    works.append(work)
  }
}
