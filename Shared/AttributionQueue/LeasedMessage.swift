import RedisClient

/// A message that this worker holds for the length of its lease.
public struct LeasedMessage: Sendable {
  public let queue: QueueName
  public let deliveryID: DeliveryID
  public let message: QueueMessage
  /// 1 for the first time it is worked.
  public let attempt: Int
  /// What happened before, a line each.
  public let history: String
  /// Milliseconds since 1970; for a message that was accepted with one.
  public let deadline: Int64?
  let entryID: String
  /// With the consumer's name the token that every later step compares.
  let deliveryCount: Int64
  let consumer: String
  /// What the line of its order key is told by; nil for one that keeps no order.
  var line: String?

  public var shard: Shard { deliveryID.shard }
}

extension LeasedMessage {
  /// Reads an entry of a ready stream; nil when it cannot be read.
  init?(queue: QueueName, entryID: String, fields: RedisReply, deliveryCount: Int64, consumer: String) {
    let values = EventFeed.fields(fields)
    guard let id = values["i"]?.string.flatMap(DeliveryID.init), let kind = values["k"]?.string, let body = values["b"]?.bytes,
      let message = QueueMessage(kind: kind, body: body, envelope: values["a"]?.bytes ?? [])
    else { return nil }
    self.init(
      queue: queue, deliveryID: id, message: message, attempt: Int((values["n"]?.integer ?? 0) + deliveryCount),
      history: values["h"]?.string ?? "", deadline: values["r"]?.integer, entryID: entryID, deliveryCount: deliveryCount,
      consumer: consumer, line: values["o"]?.string)
  }
}

/// What a handler makes of a message.
public enum WorkOutcome: Sendable {
  case complete(Completion)
  /// Again later; nil leaves the time to the queue's backoff.
  case retry(after: Duration?, error: String)
  /// Again later, no attempt counted and nothing added to the history: it is not its turn yet.
  case wait(Duration)
  case deadLetter(error: String)
  /// Back to the queue untouched, no attempt counted: what its work needs is not to be had now.
  case giveBack
}

/// What is known of a delivery.
public struct DeliveryRecord: Sendable, Hashable {
  public let id: DeliveryID
  public let state: DeliveryState
  public let queue: String
  public let kind: String
  /// Milliseconds since 1970.
  public let acceptedAt: Int64?
  public let completedAt: Int64?
  public let attempts: Int
  public let eventId: String?
  public let reason: String?
  public let lastError: String?
}
