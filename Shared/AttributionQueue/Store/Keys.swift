/// Every key name in Redis. All keys of shard 17 contain `{attr:017}` and nothing else in braces: Redis Cluster hashes only the text in the
/// braces, so all keys of a shard are in one slot. Keys that exist once are in shard 0.
public enum Keys {
  public static func tag(_ shard: Shard) -> String { tags[shard.index] }

  private static let tags = Shard.all.map { "{attr:\($0.digits)}" }

  /// A stream: the messages that are ready or being worked.
  static func ready(_ queue: QueueName, _ shard: Shard) -> String { ready[queue, shard] }
  /// A sorted set: the ids of delayed messages by due time, `+inf` while a message waits in its order line.
  static func delayed(_ queue: QueueName, _ shard: Shard) -> String { delayed[queue, shard] }
  /// A hash: the content of delayed messages, by id.
  static func payloads(_ queue: QueueName, _ shard: Shard) -> String { payloads[queue, shard] }
  /// A stream: the dead letters.
  static func dead(_ queue: QueueName, _ shard: Shard) -> String { dead[queue, shard] }
  /// A key that never exists. While a slot moves, Redis Cluster refuses (`TRYAGAIN`) a script if some of its named keys are missing on the
  /// node. A script that builds key names itself names this key too, so that it never runs during a move, when a key that it builds could
  /// be on the other node.
  static func absent(_ shard: Shard) -> String { "\(tag(shard)):absent" }
  /// A string: the owner of a shard (``ShardOwnership``).
  static func ownership(_ queue: QueueName, _ shard: Shard) -> String { ownership[queue, shard] }
  /// A hash: for each entry on which a worker may have crashed, how often it was started since (suspect.lua), and the field `until`
  /// (own.lua).
  static func suspects(_ queue: QueueName, _ shard: Shard) -> String { suspects[queue, shard] }
  /// The prefix of the key names of a shard's order lines.
  static func lines(_ queue: QueueName, _ shard: Shard) -> String { lines[queue, shard] }

  /// Key names that every delivery needs, computed once for all queues and shards.
  private struct QueueTable: Sendable {
    private let names: [String]

    init(_ suffix: String) {
      names = QueueName.allCases.flatMap { queue in Shard.all.map { "\(tag($0)):q:\(queue.rawValue)\(suffix)" } }
    }

    subscript(_ queue: QueueName, _ shard: Shard) -> String { names[queue.index * Shard.count + shard.index] }
  }

  private static let ready = QueueTable("")
  private static let delayed = QueueTable(":delayed")
  private static let payloads = QueueTable(":payloads")
  private static let dead = QueueTable(":dead")
  private static let ownership = QueueTable(":owner")
  private static let suspects = QueueTable(":suspects")
  private static let lines = QueueTable(":line:")
  /// A sorted set: the workers of a queue whose shards are owned, by their last heartbeat.
  static func workers(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):workers" }
  /// A string that exists while a queue is paused.
  static func paused(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):paused" }
  /// A sorted set: the shards by the time of their next query (``ShardSchedule``).
  static func schedule(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):schedule" }
  /// A stream: each entry wakes the workers that wait for the schedule.
  static func wakes(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):wakes" }
  /// A list: the order line, the ids of the unfinished messages of an order key, in their order.
  static func line(_ queue: QueueName, _ shard: Shard, _ line: String) -> String { lines(queue, shard) + line }
  /// A sorted set: the ids of waiting messages by their deadlines. Their payloads are stored with those of delayed messages.
  static func byDeadline(_ queue: QueueName, _ shard: Shard) -> String { "\(tag(shard)):q:\(queue.rawValue):deadlines" }
  /// A string: the record of a delivery (``DeliveryRecord``).
  static func delivery(_ id: DeliveryID) -> String { deliveries(id.shard) + String(id.digest) }
  /// The prefix of the key names of a shard's delivery records.
  static func deliveries(_ shard: Shard) -> String { deliveries[shard.index] }
  private static let deliveries = tags.map { "\($0):r:" }
  /// A set: a bucket of the deduplication store.
  static func seen(_ scope: DeduplicationScope, generation: Int64, bucket: Int, _ shard: Shard) -> String {
    seen(scope, generation: generation, shard) + String(bucket)
  }
  /// The prefix of the names of a generation's buckets.
  static func seen(_ scope: DeduplicationScope, generation: Int64, _ shard: Shard) -> String {
    "\(tag(shard)):seen:\(scope.rawValue):\(generation):"
  }
  /// A stream: the events of a shard (`Commit/EventRecord+StreamFields.swift`).
  static func events(_ shard: Shard) -> String { events[shard.index] }
  private static let events = tags.map { "\($0):events" }
  /// A hash: the entry of each event, by the event's id.
  static func eventsIndex(_ shard: Shard) -> String { eventsIndex[shard.index] }
  private static let eventsIndex = tags.map { "\($0):events:index" }
  /// A counter that every call of ``EventFeed/list(types:filter:from:until:after:limit:)`` increments. Transactions watch it, so that an
  /// event cannot get an id that a list has already passed: ``CommitTransaction``.
  static let eventsListed = "\(tag(Shard(0))):events:listed"
  /// A hash: the positions of pushed subscriptions. Pulled subscriptions have a consumer group of the event stream instead.
  static func eventPositions(_ shard: Shard) -> String { "\(tag(shard)):events:positions" }
  /// A hash: the number of events that were dropped for each subscription.
  static func droppedEvents(_ shard: Shard) -> String { "\(tag(shard)):events:dropped" }
  /// A hash: the events that pushed subscriptions have read beyond their positions and not settled (``UnsettledEvents``).
  static func unsettledEvents(_ shard: Shard) -> String { "\(tag(shard)):events:unsettled" }
  /// A set: the requests of subscriptions for the bytes that Apple sent (``EventFeed/keepOriginals(for:)``).
  static func originals(_ shard: Shard) -> String { originals[shard.index] }
  private static let originals = tags.map { "\($0):events:originals" }
  /// A sorted set: the instances that push, by their last heartbeat.
  static let pushers = "\(tag(Shard(0))):push:pushers"
  /// A hash: the instance that pushes to each endpoint.
  static let endpointOwners = "\(tag(Shard(0))):push:owners"
  /// A hash: the health of each endpoint.
  static let endpointHealth = "\(tag(Shard(0))):push:health"
  /// A hash: the messages of rejected deliveries that can be judged again, with their bodies, by delivery id (rejected.lua).
  static func rejectedBodies(_ shard: Shard) -> String { "\(tag(shard)):rejected:bodies" }
  /// A sorted set: the entries of these deliveries by class and time (``RejectedDelivery/entry(kind:reason:environment:time:id:)``).
  static func rejectedIndex(_ shard: Shard) -> String { "\(tag(shard)):rejected:index" }
  /// A hash: the bytes of each class.
  static func rejectedSizes(_ shard: Shard) -> String { "\(tag(shard)):rejected:sizes" }
  /// A stream: the bodies that version 0.1 stored.
  static func formerRejected(_ shard: Shard) -> String { "\(tag(shard)):rejected" }
  /// A hash: the subscriptions, by name.
  static let subscriptions = "\(tag(Shard(0))):subscriptions"
  /// A number: the first generation of a new pushed subscription, higher than those of all deleted subscriptions.
  static let firstGeneration = "\(tag(Shard(0))):subscriptions:generation"
  /// A string: the form of the store (``StoreForm``).
  static let form = "\(tag(Shard(0))):form"
  /// A string: the secret key of all digests of the ``DeduplicationStore``.
  static let digestKey = "\(tag(Shard(0))):digest-key"
  /// A string that confirm.lua writes, so that replicas confirm it together with all earlier writes.
  static func confirmation(_ shard: Shard) -> String { "\(tag(shard)):confirmation" }
  /// A hash: the record of an RPC's idempotency key (``RPCIdempotencyStore``).
  static func rpc(_ shard: Shard, digest: String) -> String { "\(tag(shard)):rpc:\(digest)" }
  /// A hash with the counts of a period; each process has a field. Consecutive periods are stored in different shards.
  ///
  /// - Parameter holdsValues: true if the counts are of reported values, false if they are of outcomes.
  static func counts(_ period: CountPeriod, _ number: Int64, holdsValues: Bool) -> String {
    own("verifier", "counts:\(period.rawValue):\(holdsValues ? "values" : "ends"):\(number)", Shard(Int(number % Int64(Shard.count))))
  }

  /// A hash: snapshots of the queues, minute by minute within an hour (``QueueHistory``).
  static func queueHistory(_ hour: Int64) -> String { own("verifier", "counts:queues:\(hour)", Shard(Int(hour % Int64(Shard.count)))) }

  /// A key that belongs to one service: `{attr:NNN}:<service>:<name>`. The given text decides the shard.
  public static func own(_ service: String, _ name: String, shardOf text: String) -> String {
    own(service, name, Shard(hashing: text))
  }

  /// The same in a given shard, such as a delivery's.
  public static func own(_ service: String, _ name: String, _ shard: Shard) -> String { "\(tag(shard)):\(service):\(name)" }

  /// The shard of a key; nil if the key has none.
  static func shard(of key: String) -> Shard? {
    let digits = key.utf8.dropFirst("{attr:".utf8.count).prefix(3)
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    let shard = Shard(digits.reduce(0) { $0 * 10 + Int($1 - 48) })
    return key.hasPrefix(tag(shard)) ? shard : nil
  }

  static func hashTag(of key: String) -> Substring { key.prefix { $0 != "}" } }
}
