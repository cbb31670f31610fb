/// The counts of a queue at one time.
public struct QueueSnapshot: Sendable, Hashable {
  public let queue: QueueName
  /// Ready messages. Where workers own shards, this includes messages that a worker is processing.
  public var depth: Int64 = 0
  /// Messages that are leased one by one: in queues that are worked by deadline, and in every queue in ``StoreForm/leased``.
  public var inFlight: Int64 = 0
  public var delayed: Int64 = 0
  public var dead: Int64 = 0
  /// The age of the oldest ready or leased message; nil if there is none.
  public var oldestAgeSeconds: Double?
  public var paused = false

  public init(
    queue: QueueName, depth: Int64 = 0, inFlight: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0, oldestAgeSeconds: Double? = nil,
    paused: Bool = false
  ) {
    self.queue = queue
    self.depth = depth
    self.inFlight = inFlight
    self.delayed = delayed
    self.dead = dead
    self.oldestAgeSeconds = oldestAgeSeconds
    self.paused = paused
  }
}
