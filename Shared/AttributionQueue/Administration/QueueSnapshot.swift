/// What a queue looks like now.
public struct QueueSnapshot: Sendable, Hashable {
  public let queue: QueueName
  /// Ready messages; those that a worker has begun among them, where workers own shards.
  public var depth: Int64 = 0
  /// Messages under a lease of their own: of a queue that is worked by deadline, and of all in ``StoreForm/leased``.
  public var inFlight: Int64 = 0
  public var delayed: Int64 = 0
  public var dead: Int64 = 0
  /// Of the oldest ready or leased message; nil when there is none.
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
