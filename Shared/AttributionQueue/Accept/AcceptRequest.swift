/// A delivery to be taken in.
public struct AcceptRequest: Sendable {
  public var queue: QueueName
  /// What makes a repeat: the natural key together with a digest of the bytes.
  public var idempotencyKey: String
  /// What must stay in order shares an order key and so a shard; the natural key decides where there is none.
  public var orderKey: String?
  public var naturalKey: String?
  /// Whether it is worked only when everything of its order key that was accepted before, and keeps its order too, is finished:
  /// completed or given up. Holds across workers, retries and restarts.
  public var keepsOrder: Bool
  public var message: QueueMessage
  /// Milliseconds since 1970 before which it is not worked; nil for at once.
  public var notBefore: Int64?
  /// Milliseconds since 1970 by which it must be worked, for a queue that a ``DeadlineWorker`` works; nil elsewhere.
  public var deadline: Int64?
  /// Whether its idempotency key is kept for ``QueueConfiguration/copyGeneration`` only. For a message that claims a natural key when it is
  /// completed, so that one that comes again later still counts once, and that waits for nothing in its queue: two of one id may be there
  /// then. Not for one that keeps its order.
  public var isKnownBriefly: Bool
  /// How much of the backlog's bound may be taken up when it comes, 1 being all of it: what may as well be refused leaves room
  /// for others, and more than 1 is for what others must not keep out.
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

/// What became of a delivery that keeps a value.
public enum KeepingOutcome: Sendable, Hashable {
  /// The value is kept.
  case accepted(AcceptOutcome)
  /// Another one was there, and nothing was accepted.
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
