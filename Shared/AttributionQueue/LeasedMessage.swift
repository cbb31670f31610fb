/// A message that this worker holds for the length of its lease.
public struct LeasedMessage: Sendable {
  public let queue: QueueName
  public let deliveryID: DeliveryID
  public let message: QueueMessage
  /// 1 for the first time it is worked.
  public let attempt: Int
  /// What happened before, a line each.
  public let history: String
  let entryID: String
  /// With the consumer's name the token that every later step compares.
  let deliveryCount: Int64
  let consumer: String
  /// What the line of its order key is told by; nil for one that keeps no order.
  var line: String?

  public var shard: Shard { deliveryID.shard }
}

/// What a handler makes of a message.
public enum WorkOutcome: Sendable {
  case complete(Completion)
  /// Again later; nil leaves the time to the queue's backoff.
  case retry(after: Duration?, error: String)
  case deadLetter(error: String)
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
