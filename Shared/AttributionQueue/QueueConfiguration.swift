/// The queues' limits.
public struct QueueConfiguration: Sendable {
  /// How long a worker holds a message without renewing, where messages are leased one by one.
  public var lease: Duration = .seconds(30)
  /// How long a worker that gives no sign of life keeps its shards.
  public var workerTimeout: Duration = .seconds(10)
  /// Tries before a message becomes a dead letter.
  public var maxAttempts = 25
  /// How often a message may be taken over from workers that died.
  public var maxDeliveries = 5
  /// Messages in a queue, ready and delayed.
  public var backlogBound = 2_000_000
  /// The first wait between tries, which doubles each time, with full jitter.
  public var backoffBase: Duration = .milliseconds(500)
  /// The longest wait between tries.
  public var backoffCap: Duration = .seconds(600)
  /// Buckets of seen keys, a shard and a generation: 256 hold 16 million keys at 256 members each.
  public var seenBuckets = 256
  /// How long a delivery is known by its bytes at the least where its natural key keeps it from counting twice: this only spares work.
  public var copyGeneration: Duration = .seconds(6 * 3600)
  /// Whether a digest of a postback's unsigned values is kept as long as its natural key.
  public var unsignedDigests = false
  /// How long natural keys of deliveries are remembered at the least: longer than the senders' retries, nine days for devices, some seven for
  /// the App Store.
  public var deliveryGeneration: Duration = .seconds(10 * 86_400)
  /// The same of notifications: longer than Apple's notification history of 180 days.
  public var notificationGeneration: Duration = .seconds(200 * 86_400)
  /// How far the clocks of instances may be apart: so long before a generation ends, what another one counted in the next is looked for.
  public var clockDifference: Duration = .seconds(3600)
  /// How long a delivery's state can be asked for.
  public var deliveryRecordTTL: Duration = .seconds(86_400)
  /// How many bodies of rejected deliveries are kept for study, over all shards; the oldest of a shard go first.
  public var rejectedBodies = 16_384
  /// Longer bodies of rejected deliveries are not kept.
  public var rejectedBodyBytes = 16 << 10
  /// How long bodies of rejected deliveries are kept.
  public var rejectedBodyTTL: Duration = .seconds(7 * 86_400)
  /// How long an event is kept for subscriptions that have not acknowledged it.
  public var eventRetention: Duration = .seconds(14 * 86_400)
  /// Events that a subscription may have unacknowledged; past that the oldest are dropped for it.
  public var subscriptionBacklog = 10_000_000
  /// How long an event is kept although every subscription acknowledged it.
  public var acknowledgedEventTTL: Duration = .seconds(3600)
  /// How long an answer is kept under its Idempotency-Key.
  public var rpcAnswerTTL: Duration = .seconds(86_400)
  /// What a delivery survives once it is answered 200.
  public var durability = Durability.disk
  /// By when after its start a worker looks after what is to be done now and again: dead letters past their bound, names of workers
  /// that ended.
  public var housekeepingDelay: Duration = .seconds(60)
  /// At ``Durability/replicated``: how many replicas have to have it.
  public var replicas = 1
  /// At ``Durability/replicated``: how long replicas are waited for.
  public var replicationTimeout: Duration = .seconds(1)
  /// Memory that the dead letters of one queue may take up, over all shards; the oldest of a shard go first.
  public var deadLetterBytes = 256 << 20
  /// The longest that a dead letter is kept.
  public var deadLetterAge: Duration = .seconds(30 * 86_400)
  /// Accepts a Redis that may lose data.
  public var development = false

  public init() {}

  /// How long a generation of a store is.
  func generation(of store: DeduplicationScope) -> Duration {
    switch store {
    case .delivery, .detail: deliveryGeneration
    case .notification: notificationGeneration
    case .copy: copyGeneration
    }
  }

  /// Buckets of a store, a shard and a generation. Those of copies are as many fewer as their generations are shorter, and as full as half
  /// of the others on average, since the busy hours of a day fill them beyond that.
  func buckets(of store: DeduplicationScope) -> Int {
    guard store == .copy else { return seenBuckets }
    return Int(min(Double(1 << 24), (2 * Double(seenBuckets) * (copyGeneration / deliveryGeneration)).rounded(.up)))
  }

  /// The wait before a message is tried again after so many attempts.
  public func backoff(_ attempt: Int) -> Duration {
    min(backoffCap, backoffBase * (1 << min(attempt, 20))) * Double.random(in: 0...1)
  }
}

extension Duration {
  /// Whole milliseconds.
  public var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
  /// Whole seconds, as Redis takes expiries.
  public var wholeSeconds: Int64 { Int64(self / .seconds(1)) }
}
