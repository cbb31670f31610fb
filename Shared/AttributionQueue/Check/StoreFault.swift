/// One place where what lies in Redis does not agree. It names things and holds nothing of what is in them.
public struct StoreFault: Sendable, Hashable {
  public let rule: StoreRule
  public let shard: Shard
  public let key: String
  /// Of a delivery, an event or an entry of a stream; empty where the key alone tells it.
  public let id: String
  /// Whether it was mended.
  public internal(set) var isMended = false
  let queue: QueueName?
  /// The entry of a stream that it is about.
  let entry: String
  /// What the line that it is about is told by.
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
