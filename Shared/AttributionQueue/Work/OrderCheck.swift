import RedisClient

/// Decides which messages of a batch may be applied, because all earlier messages of their order key are finished.
///
/// Usually, one query finds that the order lines of all messages of the batch are empty. Otherwise, the line of each message is queried.
/// commit.lua checks the order again, because a message may have been added to a line meanwhile: by an accept in ``StoreForm/leased``, or
/// by an older build.
struct OrderCheck {
  /// What is known about the order lines of the batch's messages in Redis.
  private enum Lines {
    case notQueried
    case allEmpty
    case someNotEmpty
  }

  private let queue: QueueName
  private let shard: Shard
  private let deliveries: DeliveryQueue
  private let entries: RedisReply.Elements
  private var lines = Lines.notQueried

  init(_ queue: QueueName, _ shard: Shard, _ entries: RedisReply.Elements, _ deliveries: DeliveryQueue) {
    self.queue = queue
    self.shard = shard
    self.entries = entries
    self.deliveries = deliveries
  }

  /// True if all earlier messages of the order key are finished, or will be finished by the batch that is being built.
  mutating func isTurn(of message: LeasedMessage, after batch: CommitBatch) async throws(QueueError) -> Bool {
    guard let line = message.line else { return true }
    if lines == .notQueried { lines = try await areAllEmpty() ? .allEmpty : .someNotEmpty }
    if lines == .someNotEmpty, let first = try await deliveries.send(["LINDEX", .string(Keys.line(queue, shard, line)), "0"]).string {
      return first == message.deliveryID.description
    }
    return !batch.unfinishedLines.contains(line)
  }

  private func areAllEmpty() async throws(QueueError) -> Bool {
    var lines: Set<String> = []
    for entry in entries {
      var parts = entry.elements
      parts.skip()
      if let fields = parts.next(), let line = LeasedMessage.line(in: fields) { lines.insert(line) }
    }
    return try await deliveries.send(["EXISTS"] + lines.map { .string(Keys.line(queue, shard, $0)) }).integer == 0
  }
}
