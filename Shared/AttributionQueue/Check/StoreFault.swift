/// An inconsistency in Redis. It names keys and ids and contains no data.
public struct StoreFault: Sendable, Hashable {
  public let rule: StoreRule
  public let shard: Shard
  public let key: String
  /// The id of a delivery, an event or a stream entry; empty if the fault concerns the whole key.
  public let id: String
  /// True if it was repaired.
  public internal(set) var isRepaired = false
  let queue: QueueName?
  /// The stream entry concerned.
  let entry: String
  /// Identifies the order line concerned.
  let line: String?

  init(
    _ rule: StoreRule, _ shard: Shard, key: String, id: String = "", queue: QueueName? = nil, entry: String = "", line: String? = nil
  ) {
    self.rule = rule
    self.shard = shard
    self.key = key
    self.id = id
    self.queue = queue
    self.entry = entry
    self.line = line
  }
}
