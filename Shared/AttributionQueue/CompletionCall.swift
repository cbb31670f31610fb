import RedisClient
import WireJSON

/// The words of one call of `complete`, message by message: for those of one queue and one shard that one consumer holds.
struct CompletionCall {
  /// What a message has, as the script counts it.
  private struct Parts: OptionSet {
    let rawValue: Int64
    static let naturalKey = Parts(rawValue: 1)
    static let heldWhenSeen = Parts(rawValue: 2)
    static let forgottenKey = Parts(rawValue: 4)
    static let keptBody = Parts(rawValue: 8)
    static let line = Parts(rawValue: 16)
    static let ownRecord = Parts(rawValue: 32)
    static let deadLetter = Parts(rawValue: 64)
  }

  /// The messages, in the order in which Redis is told of them.
  private(set) var works: [CompletedWork] = []
  /// Those of the natural keys' buckets stand behind all others.
  private var messageKeys: RedisWords
  private var thisGeneration: RedisWords
  private var nextGeneration: RedisWords
  /// Whether one of them leaves a dead letter.
  private(set) var leavesDeadLetter = false
  private var words: RedisWords
  private let first: LeasedMessage
  private let configuration: QueueConfiguration
  private let seen: SeenBefore
  /// The moment by which natural keys are claimed: one for all, or a clock that is set back could have two of a call claim one key in two
  /// generations.
  private let claimed: Int64
  /// One record after the other.
  private var json = JSONWriter(reserving: 512)

  /// - Parameters:
  ///   - first: says which queue, shard and consumer it is.
  ///   - many: how many messages there may be, for the room.
  init(of first: LeasedMessage, many: Int, _ configuration: QueueConfiguration, _ seen: SeenBefore, now: Int64) {
    claimed = now
    self.first = first
    self.configuration = configuration
    self.seen = seen
    works.reserveCapacity(many)
    messageKeys = RedisWords(reserving: 256 + 128 * many)
    messageKeys.append(Keys.ready(first.queue, first.shard))
    messageKeys.append(Keys.events(first.shard))
    messageKeys.append(Keys.eventsIndex(first.shard))
    messageKeys.append(Keys.rejected(first.shard))
    messageKeys.append(Keys.dead(first.queue, first.shard))
    thisGeneration = RedisWords(reserving: 64 * many)
    nextGeneration = RedisWords(reserving: 64 * many)
    words = RedisWords(reserving: 2000 * many)
  }

  /// The script's keys.
  var keys: RedisWords {
    var keys = messageKeys
    keys.append(contentsOf: thisGeneration)
    keys.append(contentsOf: nextGeneration)
    return keys
  }

  /// The script's arguments.
  func arguments(now: Int64) -> RedisWords {
    var arguments = RedisWords()
    arguments.append(DeliveryQueue.group)
    arguments.append(first.consumer)
    arguments.append(now)
    arguments.append(configuration.deliveryRecordTTL.wholeSeconds)
    // A few over all shards are one in each; none are none.
    arguments.append(Int64(min(configuration.rejectedBodies, max(1, configuration.rejectedBodies / Shard.count))))
    arguments.append(Int64(configuration.rejectedBodyBytes))
    arguments.append(Int64(works.count))
    arguments.append(Int64(thisGeneration.count))
    arguments.append(contentsOf: words)
    return arguments
  }

  /// Writes what the script is to be told of a message, when it is decided: an event that is written at once need not be kept, and
  /// fetched again, until the last message of a batch is worked.
  mutating func add(_ lease: LeasedMessage, _ completion: Completion, started: ContinuousClock.Instant = .now, now: Int64) {
    let (queue, shard) = (first.queue, first.shard)
    let forgotten = (completion.mayBeJudgedAnew ? lease.message.claim : nil).flatMap {
      seen.claim(digits: $0, in: seen.generations(.delivery, shard: shard, now: claimed))
    }
    var has: Parts = []
    if completion.naturalKey != nil { has.insert(.naturalKey) }
    if completion.whenSeen != nil { has.insert(.heldWhenSeen) }
    if forgotten != nil { has.insert(.forgottenKey) }
    if completion.keepsBody { has.insert(.keptBody) }
    if lease.line != nil { has.insert(.line) }
    if completion.ownRecord != nil { has.insert(.ownRecord) }
    if completion.deadLetter != nil { has.insert(.deadLetter) }

    messageKeys.append(Keys.deliveries(shard), lease.deliveryID.digest)
    words.append(lease.entryID)
    words.append(lease.deliveryCount)
    words.append(has.rawValue)
    writeRecord(of: lease, completion, now: now)
    words.append(Int64(completion.events.count))
    if let naturalKey = completion.naturalKey {
      let store: SeenStore = completion.rememberLong ? .notification : .delivery
      let claim = seen.claim(naturalKey, in: seen.generations(store, shard: shard, now: claimed))
      claim.append(.last, to: &messageKeys)
      claim.append(.this, to: &thisGeneration)
      claim.append(.next, to: &nextGeneration)
      words.append(claim.member)
      words.append(claim.expirySeconds)
    }
    if let forgotten {
      forgotten.append(to: &messageKeys)
      words.append(forgotten.member)
    }
    if let line = lease.line {
      messageKeys.append(Keys.line(queue, shard, line))
      messageKeys.append(Keys.delayed(queue, shard))
      messageKeys.append(Keys.payloads(queue, shard))
      words.append(lease.deliveryID.description)
    }
    if let own = completion.ownRecord {
      messageKeys.append(Keys.own(own.service, own.name, shard))
      words.append(own.value)
      words.append(own.life.wholeSeconds)
    }
    if let letter = completion.deadLetter {
      words.append(DeliveryQueue.oneLine(letter))
      words.append(Int64(lease.attempt))
      leavesDeadLetter = true
    }
    for place in completion.events.indices {
      words.append(completion.events[place].id)
      words.append(completion.events[place].type)
      words.append(completion.events[place].json)
    }
    works.append(
      CompletedWork(
        lease: lease, started: started, word: completion.word ?? completion.state.rawValue, whenSeen: completion.whenSeen))
  }

  private mutating func writeRecord(of lease: LeasedMessage, _ completion: Completion, now: Int64) {
    json.removeAll()
    DeliveryRecord.write(
      to: &json, state: completion.state, queue: first.queue.rawValue, kind: lease.message.kind, acceptedAt: lease.message.receivedAt,
      completedAt: now, attempts: lease.attempt, eventId: completion.recordedEventId ?? completion.events.first?.id,
      reason: completion.reason, lastError: lease.lastError)
    words.append(json.bytes)
  }
}
