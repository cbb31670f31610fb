import RedisClient
import WireJSON

/// The words of one call of `commit`: messages of one shard, in the order of its stream, and what becomes of each.
struct CommitCall {
  private(set) var works: [Work] = []
  /// When the first of those that are delayed is due.
  private(set) var due: Int64?
  /// Whether one of them leaves a dead letter.
  private(set) var leavesDeadLetter = false
  /// Lines in which one of them may be unfinished afterwards.
  private(set) var unfinishedLines: Set<String> = []
  private let queue: QueueName
  private let shard: Shard
  private let configuration: QueueConfiguration
  private let seen: SeenBefore
  /// The moment by which natural keys are claimed: one for all, or a clock that is set back could have two of a call claim one key in two
  /// generations.
  private let now: Int64
  /// The last message's place in the stream.
  private(set) var position = EntryID(milliseconds: 0, number: 0)
  private var words: RedisWords
  private var json = JSONWriter(reserving: 512)

  /// - Parameter many: how many messages there may be, for the room.
  init(_ queue: QueueName, _ shard: Shard, many: Int, _ deliveries: DeliveryQueue) {
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
    return keys
  }

  /// The script's arguments. `reading`: how many messages behind these to read.
  func arguments(_ ownership: ShardOwnership, reading: Int) -> RedisWords {
    var arguments = RedisWords(reserving: 1024)
    arguments.append(ownership.text)
    arguments.append(common)
    arguments.append("(" + position.text)
    arguments.append(Int64(reading))
    arguments.append(contentsOf: words)
    return arguments
  }

  private var common: [UInt8] {
    var pack = MessagePackWriter(reserving: 512)
    pack.beginMap()
    pack.key("now")
    pack.string(String(now))
    pack.key("behind")
    pack.string(position.next.text)
    pack.key("deliveries")
    pack.string(Keys.deliveries(shard))
    pack.key("lines")
    pack.string(Keys.lines(queue, shard))
    pack.key("recordSeconds")
    pack.int(Int(configuration.deliveryRecordTTL.wholeSeconds))
    pack.key("rejectedBodies")
    // A few over all shards are one in each; none are none.
    pack.int(min(configuration.rejectedBodies, max(1, configuration.rejectedBodies / Shard.count)))
    pack.key("rejectedBytes")
    pack.int(configuration.rejectedBodyBytes)
    pack.key("seen")
    pack.beginMap()
    for store in [SeenStore.delivery, .notification] {
      let generations = seen.generations(store, shard: shard, now: now)
      pack.key(store == .delivery ? "d" : "n")
      pack.beginMap()
      pack.key("this")
      pack.string(generations.prefixes[SeenBefore.Generation.this.rawValue])
      pack.key("last")
      pack.string(generations.prefixes[SeenBefore.Generation.last.rawValue])
      pack.key("next")
      pack.string(generations.prefixes[SeenBefore.Generation.next.rawValue])
      pack.key("seconds")
      pack.int(Int(generations.expirySeconds))
      pack.end()
    }
    pack.end()
    pack.end()
    return pack.bytes
  }

  // MARK: What becomes of a message

  /// Completes it.
  mutating func complete(
    _ message: LeasedMessage, _ completion: Completion, isSuspected: Bool, isOrdered: Bool = false, started: ContinuousClock.Instant,
    now: Int64
  ) {
    var pack = begin(
      message, isSuspected: isSuspected, isOrdered: isOrdered, reserving: 512 + completion.events.reduce(0) { $0 + $1.json.count })
    if isOrdered, completion.whenSeen != nil, let line = message.line { unfinishedLines.insert(line) }
    json.removeAll()
    DeliveryRecord.write(
      to: &json, state: completion.state, queue: queue.rawValue, kind: message.message.kind, acceptedAt: message.message.receivedAt,
      completedAt: now, attempts: message.attempt, eventId: completion.recordedEventId ?? completion.events.first?.id,
      reason: completion.reason, lastError: message.lastError)
    pack.key("record")
    pack.string(json.bytes)
    if !completion.events.isEmpty {
      pack.key("events")
      pack.beginList()
      for place in completion.events.indices {
        pack.element()
        pack.beginMap()
        pack.key("id")
        pack.string(completion.events[place].id)
        pack.key("type")
        pack.string(completion.events[place].type)
        pack.key("json")
        pack.string(completion.events[place].json)
        pack.end()
      }
      pack.end()
    }
    if let naturalKey = completion.naturalKey {
      let store: SeenStore = completion.rememberLong ? .notification : .delivery
      pack.key("natural")
      pack.beginMap()
      pack.key("store")
      pack.string(store.rawValue)
      let claim = seen.claim(naturalKey, in: seen.generations(store, shard: shard, now: self.now))
      pack.write(claim)
      if let detail = completion.detail, configuration.unsignedDigests, !completion.rememberLong {
        pack.write(seen.detail(detail, of: naturalKey, shard: shard, now: self.now))
      }
      pack.end()
      if completion.whenSeen != nil {
        pack.key("holds")
        pack.bool(true)
      }
    }
    if completion.mayBeJudgedAnew, let digits = message.message.claim {
      pack.writeForgotten(digits, seen, shard, now: self.now)
    }
    if completion.keepsBody {
      pack.key("keepsBody")
      pack.bool(true)
    }
    if let own = completion.ownRecord {
      pack.key("own")
      pack.beginMap()
      pack.key("key")
      pack.string(Keys.own(own.service, own.name, shard))
      pack.key("value")
      pack.string(own.value)
      pack.key("seconds")
      pack.int(Int(own.life.wholeSeconds))
      pack.end()
    }
    if let letter = completion.deadLetter {
      pack.key("letter")
      pack.string(DeliveryQueue.oneLine(letter))
      pack.key("attempts")
      pack.int(message.attempt)
      leavesDeadLetter = true
    }
    end(
      &pack,
      Work(
        entryID: message.entryID, message: message, isSuspected: isSuspected, isOrdered: isOrdered, started: started,
        word: completion.word ?? completion.state.rawValue,
        whenSeen: completion.whenSeen, death: nil))
  }

  /// Puts it off: as another attempt that failed, or untouched where there is no error. One that keeps its order keeps its place, or takes
  /// the first.
  mutating func delay(
    _ message: LeasedMessage, _ delay: Duration, error: String?, isSuspected: Bool, isOrdered: Bool = false,
    meanwhile: (@Sendable () async -> Void)? = nil, started: ContinuousClock.Instant
  ) {
    if isOrdered, let line = message.line { unfinishedLines.insert(line) }
    let now = DeliveryQueue.now
    let due = now + max(0, delay.milliseconds)
    self.due = min(self.due ?? due, due)
    var pack = begin(message, isSuspected: isSuspected, isOrdered: isOrdered, reserving: 1024)
    pack.key("due")
    pack.string(String(due))
    writeAttempt(of: message, error, now: now, state: nil, to: &pack)
    end(
      &pack,
      Work(
        entryID: message.entryID, message: message, started: started, word: error == nil ? Self.waiting : "retried", whenSeen: nil,
        death: nil,
        meanwhile: meanwhile)
    )
  }

  /// Has it wait for what is unfinished of its order key.
  mutating func wait(_ message: LeasedMessage, isSuspected: Bool, started: ContinuousClock.Instant) {
    if let line = message.line { unfinishedLines.insert(line) }
    var pack = begin(message, isSuspected: isSuspected, isOrdered: true, reserving: 256)
    pack.key("waits")
    pack.bool(true)
    end(&pack, Work(entryID: message.entryID, message: message, started: started, word: Self.waiting, whenSeen: nil, death: nil))
  }

  /// The word of one that waits for its turn.
  static let waiting = "waiting"

  /// Makes a dead letter of it.
  mutating func bury(
    _ message: LeasedMessage, error: String, isSuspected: Bool, isOrdered: Bool = false, started: ContinuousClock.Instant
  ) {
    var pack = begin(message, isSuspected: isSuspected, isOrdered: isOrdered, reserving: 1024)
    pack.key("dead")
    pack.string(DeliveryQueue.oneLine(error))
    writeAttempt(of: message, error, now: DeliveryQueue.now, state: .dead, to: &pack)
    leavesDeadLetter = true
    end(&pack, Work(entryID: message.entryID, message: message, started: started, word: "dead", whenSeen: nil, death: error))
  }

  /// The same of an entry that is no message.
  mutating func bury(_ entry: UnreadableEntry, started: ContinuousClock.Instant) {
    let id = entry.letterID(in: shard)
    var pack = MessagePackWriter(reserving: 512)
    pack.beginMap()
    pack.key("entry")
    pack.string(entry.entryID)
    pack.key("id")
    pack.string(id.description)
    pack.key("digest")
    pack.string(id.digest)
    if let line = entry.line {
      pack.key("line")
      pack.string(line)
      pack.key("lineId")
      pack.string(entry.id)
    }
    pack.key("unreadable")
    pack.string(UnreadableEntry.reason)
    if !entry.canBePutBack(in: shard) {
      pack.key("final")
      pack.bool(true)
    }
    pack.key("record")
    pack.string(
      DeliveryRecord(
        id: id, state: .dead, queue: queue.rawValue, kind: entry.kind ?? "", completedAt: now, attempts: 1,
        lastError: UnreadableEntry.reason
      ).json)
    leavesDeadLetter = true
    end(&pack, Work(entryID: entry.entryID, message: nil, started: started, word: "dead", whenSeen: nil, death: UnreadableEntry.reason))
  }

  private func begin(_ message: LeasedMessage, isSuspected: Bool, isOrdered: Bool, reserving capacity: Int) -> MessagePackWriter {
    var pack = MessagePackWriter(reserving: capacity)
    pack.beginMap()
    pack.key("entry")
    pack.string(message.entryID)
    pack.key("id")
    pack.string(message.deliveryID.description)
    pack.key("digest")
    pack.string(message.deliveryID.digest)
    if let line = message.line {
      pack.key("line")
      pack.string(line)
    }
    if isOrdered {
      pack.key("ordered")
      pack.bool(true)
    }
    if isSuspected {
      pack.key("suspected")
      pack.bool(true)
    }
    return pack
  }

  private func writeAttempt(
    of message: LeasedMessage, _ error: String?, now: Int64, state: DeliveryState?, to pack: inout MessagePackWriter
  ) {
    pack.key("attempts")
    pack.int(error == nil ? message.attempt - 1 : message.attempt)
    pack.key("history")
    guard let error = error.map(DeliveryQueue.oneLine) else { return pack.string(message.history) }
    pack.string(Self.history(message.history, now, error))
    var record = DeliveryRecord(message)
    record.lastError = error
    if let state {
      record.state = state
      record.completedAt = now
    }
    pack.key("record")
    pack.string(record.json)
  }

  private mutating func end(_ pack: inout MessagePackWriter, _ work: Work) {
    pack.end()
    words.append(pack.bytes)
    if let id = EntryID(work.entryID) { position = id }
    works.append(work)
  }
}
