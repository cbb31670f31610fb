/// Every key name in Redis. All keys of shard 17 contain `{attr:017}` and nothing else in braces.
public enum Keys {
  public static func tag(_ shard: Shard) -> String { tags[shard.index] }

  private static let tags = Shard.all.map { "{attr:\($0.digits)}" }

  static func ready(_ queue: QueueName, _ shard: Shard) -> String { ready[queue, shard] }
  static func delayed(_ queue: QueueName, _ shard: Shard) -> String { delayed[queue, shard] }
  static func payloads(_ queue: QueueName, _ shard: Shard) -> String { payloads[queue, shard] }
  static func dead(_ queue: QueueName, _ shard: Shard) -> String { dead[queue, shard] }
  /// A key that never exists. A cluster refuses (`TRYAGAIN`) a script of several keys that are not all there while their slot moves to another
  /// node: a script that has this among them never runs between two nodes, where it would miss keys whose names it makes itself.
  static func absent(_ shard: Shard) -> String { "\(tag(shard)):absent" }
  /// Who works a shard: ``ShardOwnership``.
  static func ownership(_ queue: QueueName, _ shard: Shard) -> String { ownership[queue, shard] }
  /// Messages that their worker may have died of.
  static func suspects(_ queue: QueueName, _ shard: Shard) -> String { suspects[queue, shard] }
  /// What the names of a shard's lines begin with.
  static func lines(_ queue: QueueName, _ shard: Shard) -> String { lines[queue, shard] }

  /// Names of every queue's and shard's that each delivery needs: made once.
  private struct QueueTable: Sendable {
    private let names: [String]

    init(_ suffix: String) {
      names = QueueName.allCases.flatMap { queue in Shard.all.map { "\(tag($0)):q:\(queue.rawValue)\(suffix)" } }
    }

    subscript(_ queue: QueueName, _ shard: Shard) -> String { names[queue.place * Shard.count + shard.index] }
  }

  private static let ready = QueueTable("")
  private static let delayed = QueueTable(":delayed")
  private static let payloads = QueueTable(":payloads")
  private static let dead = QueueTable(":dead")
  private static let ownership = QueueTable(":owner")
  private static let suspects = QueueTable(":suspects")
  private static let lines = QueueTable(":line:")
  /// Workers of a queue whose shards are owned, by their last beat.
  static func workers(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):workers" }
  /// Whether workers of a queue rest.
  static func paused(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):paused" }
  /// Shards by when they must be looked at: ``ShardSchedule``.
  static func schedule(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):schedule" }
  /// Wakes all who wait for what the schedule says.
  static func wakes(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):wakes" }
  /// The unfinished messages of an order key, in their order.
  static func line(_ queue: QueueName, _ shard: Shard, _ line: String) -> String { lines(queue, shard) + line }
  /// Messages that wait to be taken in the order of their deadlines; their payloads are among the delayed ones'.
  static func byDeadline(_ queue: QueueName, _ shard: Shard) -> String { "\(tag(shard)):q:\(queue.rawValue):deadlines" }
  /// The record of a delivery.
  static func delivery(_ id: DeliveryID) -> String { deliveries(id.shard) + String(id.digest) }
  /// What stands in front of the digest of each of a shard's.
  static func deliveries(_ shard: Shard) -> String { deliveries[shard.index] }
  private static let deliveries = tags.map { "\($0):r:" }
  static func seen(_ store: DeduplicationScope, generation: Int64, bucket: Int, _ shard: Shard) -> String {
    seen(store, generation: generation, shard) + String(bucket)
  }
  /// The same without the bucket's number.
  static func seen(_ store: DeduplicationScope, generation: Int64, _ shard: Shard) -> String {
    "\(tag(shard)):seen:\(store.rawValue):\(generation):"
  }
  static func events(_ shard: Shard) -> String { events[shard.index] }
  private static let events = tags.map { "\($0):events" }
  static func eventsIndex(_ shard: Shard) -> String { eventsIndex[shard.index] }
  private static let eventsIndex = tags.map { "\($0):events:index" }
  /// How far pushed subscriptions are; those that are pulled have a group of the events' stream.
  static func eventPositions(_ shard: Shard) -> String { "\(tag(shard)):events:positions" }
  /// How many events each subscription has lost.
  static func droppedEvents(_ shard: Shard) -> String { "\(tag(shard)):events:dropped" }
  /// What pushed subscriptions have read beyond their positions and not settled: ``UnsettledEvents``.
  static func unsettledEvents(_ shard: Shard) -> String { "\(tag(shard)):events:unsettled" }
  /// Who asks for the bytes that Apple sent: ``EventFeed/keepOriginals(for:)``.
  static func originals(_ shard: Shard) -> String { originals[shard.index] }
  private static let originals = tags.map { "\($0):events:originals" }
  /// Instances that push, by their last sign of life.
  static let pushers = "\(tag(Shard(0))):push:pushers"
  /// Which of them pushes to which endpoint.
  static let endpointOwners = "\(tag(Shard(0))):push:owners"
  /// How endpoints do.
  static let endpointHealth = "\(tag(Shard(0))):push:health"
  /// Bodies of rejected deliveries, for study.
  static func rejected(_ shard: Shard) -> String { rejected[shard.index] }
  private static let rejected = tags.map { "\($0):rejected" }
  static let subscriptions = "\(tag(Shard(0))):subscriptions"
  /// The generation that new subscriptions begin with: higher than those of all that have ended.
  static let firstGeneration = "\(tag(Shard(0))):subscriptions:generation"
  /// ``StoreForm``.
  static let form = "\(tag(Shard(0))):form"
  static let digestKey = "\(tag(Shard(0))):digest-key"
  /// Written only to be confirmed by replicas together with all that was written before.
  static func confirmation(_ shard: Shard) -> String { "\(tag(shard)):confirmation" }
  static func rpc(_ shard: Shard, digest: String) -> String { "\(tag(shard)):rpc:\(digest)" }
  /// Sums of a period, one of each process: how deliveries ended, or what they said. Each lies in another shard than the one before.
  static func counts(_ period: CountPeriod, _ number: Int64, holdsValues: Bool) -> String {
    own("verifier", "counts:\(period.rawValue):\(holdsValues ? "values" : "ends"):\(number)", Shard(Int(number % Int64(Shard.count))))
  }

  /// What the queues looked like, minute by minute within an hour.
  static func queueHistory(_ hour: Int64) -> String { own("verifier", "counts:queues:\(hour)", Shard(Int(hour % Int64(Shard.count)))) }

  /// A key of a service's own, beside the queues: `{attr:NNN}:<service>:<name>`, its shard from the given text.
  public static func own(_ service: String, _ name: String, shardOf text: String) -> String {
    own(service, name, Shard(hashing: text))
  }

  /// The same in a given shard, such as a delivery's.
  public static func own(_ service: String, _ name: String, _ shard: Shard) -> String { "\(tag(shard)):\(service):\(name)" }

  /// The shard of a key; nil where it has none.
  static func shard(of key: String) -> Shard? {
    let digits = key.utf8.dropFirst("{attr:".utf8.count).prefix(3)
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    let shard = Shard(digits.reduce(0) { $0 * 10 + Int($1 - 48) })
    return key.hasPrefix(tag(shard)) ? shard : nil
  }

  static func hashTag(of key: String) -> Substring { key.prefix { $0 != "}" } }
}
