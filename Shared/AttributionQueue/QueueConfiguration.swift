/// Limits and times of the queues.
public struct QueueConfiguration: Sendable {
  /// Outside of development, the least ``deliveryGeneration``: a device that is not answered 200 retries for nine days.
  public static let minDeliveryGeneration: Duration = .seconds(9 * 86_400)
  /// Outside of development, the least ``notificationGeneration``: recovery can fetch a notification from Apple's history for 180 days.
  public static let minNotificationGeneration: Duration = .seconds(180 * 86_400)
  /// Outside of development, the least ``rpcAnswerTTL``: callers may repeat a call under its Idempotency-Key for a day.
  public static let minRPCAnswerTTL: Duration = .seconds(86_400)

  /// How long a lease lasts without renewal, where messages are leased one by one: in the queue `tokens`, and in form 1 of the store in
  /// every queue. The token broker starts only if `adServices.timeout` is shorter.
  public var lease: Duration = .seconds(30)
  /// The time between two renewals of a lease: a third of it, so that one failed renewal does not lose the lease.
  var leaseRenewal: Duration { lease / 3 }
  /// How long a worker that sends no heartbeat keeps its shards.
  public var workerTimeout: Duration = .seconds(10)
  /// Attempts before a message becomes a dead letter. Retries with a stated delay are not limited.
  public var maxAttempts = 25
  /// The number of workers that may end while they process a message before it becomes a dead letter.
  public var maxDeliveries = 5
  /// The maximum number of messages in a queue, ready and delayed.
  public var backlogBound = 2_000_000
  /// The average of the first wait between attempts, which doubles each time. A wait is random, from zero to twice the average.
  public var backoffBase: Duration = .milliseconds(500)
  /// The longest wait between attempts.
  public var backoffCap: Duration = .seconds(600)
  /// The waits of single queues, by the queue's name; not of `tokens`, where each wait follows from Apple's rules. Each is a mapping with
  /// `base` and `cap`, with the bounds and defaults of `backoffBase` and `backoffCap`.
  public var backoff: [QueueName: Backoff] = [:]
  /// Deduplication buckets per shard and generation: 256 suit up to 20 million keys, some 300 in each.
  public var seenBuckets = 256
  /// The minimum time that the digest of a delivery's bytes is stored although its natural key already prevents duplicates. This only saves
  /// work.
  public var copyGeneration: Duration = .seconds(6 * 3600)
  /// True if a digest of a postback's unsigned values is stored as long as its natural key.
  public var unsignedDigests = false
  /// The minimum time that natural keys of deliveries are stored. It is longer than the senders' retries: nine days for devices, about
  /// seven for the App Store.
  public var deliveryGeneration: Duration = .seconds(10 * 86_400)
  /// The minimum time that natural keys of notifications are stored: longer than Apple's notification history of 180 days.
  public var notificationGeneration: Duration = .seconds(200 * 86_400)
  /// The maximum difference between the clocks of instances. This long before a generation ends, the next generation is checked too.
  public var clockDifference: Duration = .seconds(3600)
  /// How long the record of a delivery is stored.
  public var deliveryRecordTTL: Duration = .seconds(86_400)
  /// The maximum memory of the bodies of rejected deliveries, over all shards. Beyond it, a shard drops the oldest of those kinds and reasons
  /// that take most of its memory.
  public var rejectedBytes = 128 << 20
  /// How long an event is stored for subscriptions that have not acknowledged it, and how long the body of a rejected delivery is stored.
  public var eventRetention: Duration = .seconds(14 * 86_400)
  /// The maximum number of unacknowledged events of a subscription; beyond it the oldest are dropped for that subscription.
  public var subscriptionBacklog = 10_000_000
  /// How long an event is stored after every subscription has acknowledged it.
  public var acknowledgedEventTTL: Duration = .seconds(3600)
  /// How long an answer is stored under its Idempotency-Key.
  public var rpcAnswerTTL: Duration = .seconds(86_400)
  /// The failures that a delivery survives once it was answered with status 200.
  public var durability = Durability.disk
  /// The maximum delay after a worker's start before its periodic housekeeping begins: dead letters past their limits, names of workers
  /// that ended.
  public var housekeepingDelay: Duration = .seconds(60)
  /// At ``Durability/replicated``: how many replicas must confirm a write.
  public var replicas = 1
  /// At ``Durability/replicated``: how long a write waits for replicas.
  public var replicationTimeout: Duration = .seconds(1)
  /// The maximum memory of the dead letters of one queue, over all shards; the oldest of a shard are dropped first.
  public var deadLetterBytes = 256 << 20
  /// The maximum time that a dead letter is stored.
  public var deadLetterAge: Duration = .seconds(30 * 86_400)
  /// Accepts a Redis that may lose data.
  public var development = false

  public init() {}

  /// The length of a generation.
  func generation(of scope: DeduplicationScope) -> Duration {
    switch scope {
    case .delivery, .detail: deliveryGeneration
    case .notification: notificationGeneration
    case .copy: copyGeneration
    }
  }

  /// The number of buckets per shard and generation. Generations of copies are shorter and get proportionally fewer buckets, times two,
  /// because the busy hours of a day fill them above the average. The limit of 2^24 keeps extreme settings from overflowing.
  func buckets(of scope: DeduplicationScope) -> Int {
    guard scope == .copy else { return seenBuckets }
    return Int(min(Double(1 << 24), (2 * Double(seenBuckets) * (copyGeneration / deliveryGeneration)).rounded(.up)))
  }

  /// The waits between the attempts of a queue's messages.
  public func backoff(of queue: QueueName) -> Backoff { backoff[queue] ?? Backoff(base: backoffBase, cap: backoffCap) }
}
