import RedisClient
import WireJSON

/// The words of one call of `complete`: for messages of one queue and one shard that one consumer holds.
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

  private(set) var keys: RedisWords
  private(set) var words: RedisWords
  private let queue: QueueName
  private let shard: Shard
  private let recordPrefix: String
  private let now: Int64
  /// One record after the other.
  private var json = JSONWriter(reserving: 512)

  init(of lease: LeasedMessage, many: Int, _ configuration: QueueConfiguration, now: Int64) {
    queue = lease.queue
    shard = lease.shard
    recordPrefix = Keys.deliveries(shard)
    self.now = now
    keys = RedisWords(reserving: 256 + 320 * many)
    keys.append(Keys.ready(queue, shard))
    keys.append(Keys.events(shard))
    keys.append(Keys.eventsIndex(shard))
    keys.append(Keys.rejected(shard))
    keys.append(Keys.dead(queue, shard))
    words = RedisWords(reserving: 256 + 2000 * many)
    words.append(DeliveryQueue.group)
    words.append(lease.consumer)
    words.append(now)
    words.append(configuration.deliveryRecordTTL.wholeSeconds)
    // A few over all shards are one in each; none are none.
    words.append(Int64(min(configuration.rejectedBodies, max(1, configuration.rejectedBodies / Shard.count))))
    words.append(Int64(configuration.rejectedBodyBytes))
    words.append(Int64(many))
  }

  mutating func add(_ work: CompletedWork, _ seen: SeenBefore) {
    let lease = work.lease
    let forgotten = (work.completion.mayBeJudgedAnew ? lease.message.claim : nil).flatMap {
      seen.claim(digits: $0, in: generations(.delivery, seen))
    }
    var has: Parts = []
    if work.completion.naturalKey != nil { has.insert(.naturalKey) }
    if work.completion.whenSeen != nil { has.insert(.heldWhenSeen) }
    if forgotten != nil { has.insert(.forgottenKey) }
    if work.completion.keepsBody { has.insert(.keptBody) }
    if lease.line != nil { has.insert(.line) }
    if work.completion.ownRecord != nil { has.insert(.ownRecord) }
    if work.completion.deadLetter != nil { has.insert(.deadLetter) }

    keys.append(recordPrefix, lease.deliveryID.digest)
    words.append(lease.entryID)
    words.append(lease.deliveryCount)
    words.append(has.rawValue)
    write(recordOf: work)
    words.append(Int64(work.completion.events.count))
    if let naturalKey = work.completion.naturalKey {
      let claim = seen.claim(naturalKey, in: generations(work.completion.rememberLong ? .notification : .delivery, seen))
      claim.append(to: &keys)
      words.append(claim.member)
      words.append(claim.expirySeconds)
    }
    if let forgotten {
      forgotten.append(to: &keys)
      words.append(forgotten.member)
    }
    if let line = lease.line {
      keys.append(Keys.line(queue, shard, line))
      keys.append(Keys.delayed(queue, shard))
      keys.append(Keys.payloads(queue, shard))
      words.append(lease.deliveryID.description)
    }
    if let own = work.completion.ownRecord {
      keys.append(Keys.own(own.service, own.name, shard))
      words.append(own.value)
      words.append(own.life.wholeSeconds)
    }
    if let letter = work.completion.deadLetter {
      words.append(DeliveryQueue.oneLine(letter))
      words.append(Int64(lease.attempt))
    }
    for event in work.completion.events {
      words.append(event.id)
      words.append(event.type)
      words.append(event.json)
    }
  }

  private func generations(_ store: SeenStore, _ seen: SeenBefore) -> SeenBefore.Generations {
    seen.generations(store, shard: shard, now: now)
  }

  private mutating func write(recordOf work: CompletedWork) {
    let lease = work.lease
    json.removeAll()
    DeliveryRecord.write(
      to: &json, state: work.completion.state, queue: queue.rawValue, kind: lease.message.kind, acceptedAt: lease.message.receivedAt,
      completedAt: now, attempts: lease.attempt, eventId: work.completion.recordedEventId ?? work.completion.events.first?.id,
      reason: work.completion.reason, lastError: lease.lastError)
    words.append(json.bytes)
  }
}
