/// A delivery that is to be accepted into a queue.
public struct AcceptRequest: Sendable {
  public var queue: QueueName
  /// Identifies repeats of the delivery: usually the natural key together with a digest of the bytes, and the ad network or app that the
  /// URL named.
  public var idempotencyKey: String
  /// Deliveries with the same order key share a shard and are read in their order. A delivery that is retried may be applied after later
  /// ones unless ``keepsOrder`` is set.
  public var orderKey: String?
  /// Decides the shard if there is no order key. It is not claimed here, but when the message is completed (``Completion``).
  public var naturalKey: String?
  /// True if the message is applied only after all earlier messages of its order key that also keep order are completed or dead letters.
  /// This holds across workers, retries and restarts.
  public var keepsOrder: Bool
  public var message: QueueMessage
  /// The earliest time at which the message may be processed, milliseconds since 1970; nil for no delay.
  public var notBefore: Int64?
  /// The time by which the message must be processed, milliseconds since 1970, in a queue that a ``DeadlineWorker`` works; nil elsewhere.
  public var deadline: Int64?
  /// True if the idempotency key is stored only for ``QueueConfiguration/copyGeneration``, which saves memory. A repeat that comes later is
  /// queued again under the same id. It publishes no second event if the message claims a natural key on completion, for as long as that
  /// key is stored; so only such messages may set this. A message that keeps its order ignores it: an order line must not contain an id
  /// twice.
  public var isKnownBriefly: Bool
  /// The fraction of the backlog limit at which the delivery is refused. Less than 1 leaves room for more important deliveries; more than 1
  /// admits a delivery although the backlog is full.
  public var backlogShare: Double

  public init(
    queue: QueueName, idempotencyKey: String, orderKey: String? = nil, naturalKey: String? = nil, keepsOrder: Bool = false,
    message: QueueMessage, notBefore: Int64? = nil, deadline: Int64? = nil, isKnownBriefly: Bool = false, backlogShare: Double = 1
  ) {
    self.isKnownBriefly = isKnownBriefly
    self.backlogShare = backlogShare
    self.queue = queue
    self.idempotencyKey = idempotencyKey
    self.orderKey = orderKey
    self.naturalKey = naturalKey
    self.keepsOrder = keepsOrder
    self.message = message
    self.notBefore = notBefore
    self.deadline = deadline
  }
}

/// The result of ``DeliveryQueue/accept(_:keeping:)``, which also stores a value.
public enum KeepingOutcome: Sendable, Hashable {
  /// There was no value, so the new one is stored; the delivery may be a duplicate.
  case accepted(AcceptOutcome)
  /// Another value was stored before; nothing was accepted.
  case earlier([UInt8])
}

/// Whether a delivery is new.
public enum AcceptOutcome: Sendable, Hashable {
  case accepted(DeliveryID)
  case duplicate(DeliveryID)

  public var id: DeliveryID {
    switch self {
    case .accepted(let id), .duplicate(let id): id
    }
  }

  public var isDuplicate: Bool { if case .duplicate = self { true } else { false } }
}
