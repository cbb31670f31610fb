/// Every key name in Redis. All keys of shard 17 contain `{attr:017}` and nothing else in braces.
public enum Keys {
  public static func tag(_ shard: Shard) -> String {
    let digits = String(shard.index)
    return "{attr:" + String(repeating: "0", count: 3 - digits.count) + digits + "}"
  }

  static func ready(_ queue: QueueName, _ shard: Shard) -> String { "\(tag(shard)):q:\(queue.rawValue)" }
  static func delayed(_ queue: QueueName, _ shard: Shard) -> String { "\(tag(shard)):q:\(queue.rawValue):delayed" }
  static func payloads(_ queue: QueueName, _ shard: Shard) -> String { "\(tag(shard)):q:\(queue.rawValue):payloads" }
  static func dead(_ queue: QueueName, _ shard: Shard) -> String { "\(tag(shard)):q:\(queue.rawValue):dead" }
  /// Whether workers of a queue rest.
  static func paused(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):paused" }
  /// Wakes the poller of delayed messages.
  static func wake(_ queue: QueueName) -> String { "\(tag(Shard(0))):q:\(queue.rawValue):wake" }
  static func delivery(_ id: DeliveryID) -> String { "\(tag(id.shard)):d:\(id.digest)" }
  static func seen(_ store: SeenStore, generation: Int64, bucket: Int, _ shard: Shard) -> String {
    "\(tag(shard)):seen:\(store.rawValue):\(generation):\(bucket)"
  }
  static func events(_ shard: Shard) -> String { "\(tag(shard)):events" }
  static func eventsIndex(_ shard: Shard) -> String { "\(tag(shard)):events:index" }
  /// Bodies of rejected deliveries, for study.
  static func rejected(_ shard: Shard) -> String { "\(tag(shard)):rejected" }
  static let subscriptions = "\(tag(Shard(0))):subscriptions"
  static let digestKey = "\(tag(Shard(0))):digest-key"
  static func rpc(_ shard: Shard, digest: String) -> String { "\(tag(shard)):rpc:\(digest)" }

  /// A key of a service's own, beside the queues: `{attr:NNN}:<service>:<name>`, its shard from the given text.
  public static func own(_ service: String, _ name: String, shardOf text: String) -> String {
    own(service, name, Shard(hashing: text))
  }

  /// The same in a shard that is known.
  public static func own(_ service: String, _ name: String, _ shard: Shard) -> String { "\(tag(shard)):\(service):\(name)" }

  static func hashTag(of key: String) -> Substring { key.prefix { $0 != "}" } }
}
