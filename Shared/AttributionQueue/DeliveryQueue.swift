import Cryptography
public import Logging
public import RedisClient
import Synchronization
public import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// The queues in Redis. This type accepts deliveries and reads their state; ``ShardWorker`` and ``DeadlineWorker`` work their messages.
///
/// ``accept(_:)`` appends the message of a delivery to the ready stream of its shard. A worker reads the stream, calls the handler and
/// settles its decision: the message is completed and publishes events in the ``EventFeed``, is delayed, or becomes a dead letter. Read
/// next: `Accept/DeliveryQueue+Accept.swift`, `Work/Shards/ShardWorker.swift`, `Commit/Settlement.swift`. All key names are in
/// `Store/Keys.swift`.
///
///     let deliveries = try await DeliveryQueue.open(redis: redis, configuration: QueueConfiguration(), logger: logger)
///     let outcome = try await deliveries.accept(request)
public final class DeliveryQueue: Sendable {
  public let configuration: QueueConfiguration
  /// Counts of dead letters that were dropped.
  public let droppedDeadLetters = DroppedDeadLetters()
  let redis: RedisClient
  /// A client whose replies arrive when the write is as durable as ``QueueConfiguration/durability`` requires.
  public let durable: RedisClient
  let deduplication: DeduplicationStore
  let scheduleWrites = ScheduleWriteCoalescer()
  let knownForm: CachedValue<StoreForm>
  /// Tests of stores that older builds have written set this: messages then enter their order lines when they are verified (true) or
  /// accepted (false), whatever the form of their shard.
  let linesEnteredWhenVerified = Mutex<Bool?>(nil)
  public let tracer: Tracer
  /// Called for each message that this process accepted, with its queue; not for duplicates.
  let observeAccept: @Sendable (QueueName) -> Void
  let logger: Logger
  static let group = "workers"

  private init(
    redis: RedisClient, replication: RedisReplication?, configuration: QueueConfiguration, digestKey: [UInt8],
    tracer: Tracer, logger: Logger, observeAccept: @escaping @Sendable (QueueName) -> Void
  ) {
    self.redis = redis
    durable = replication.map { redis.replicated($0) } ?? redis
    self.configuration = configuration
    self.tracer = tracer
    self.logger = logger
    self.observeAccept = observeAccept
    deduplication = DeduplicationStore(digestKey: digestKey, configuration: configuration)
    knownForm = Self.cachedForm(redis)
  }

  /// Checks that Redis is configured not to lose data and that this build knows the store's form, and reads the secret digest key that all
  /// services share.
  ///
  /// - Parameter observeAccept: called for each message that this process accepts, with its queue, for metrics; not for duplicates. If
  ///   the reply of Redis is lost, the message may be in the queue without a call.
  public static func open(
    redis: RedisClient, configuration: QueueConfiguration, tracer: Tracer = .off, logger: Logger,
    observeAccept: @escaping @Sendable (QueueName) -> Void = { _ in }
  ) async throws(QueueError) -> DeliveryQueue {
    let (opened, form): (DeliveryQueue, String?)
    do throws(RedisError) {
      let replication = try await RedisSafetyCheck.check(redis, configuration, logger: logger)
      let reply = try await Scripts.open.run(
        redis, [Keys.digestKey, Keys.form], [.bytes(RandomBytes.make(32)), .integer(Int64(StoreForm.newest.rawValue))])
      guard let parts = reply.array, parts.count == 2, let key = parts[0].bytes, key.count == 32 else {
        throw .unexpectedReply("open")
      }
      form = parts[1].string
      opened = DeliveryQueue(
        redis: redis, replication: replication, configuration: configuration, digestKey: key, tracer: tracer, logger: logger,
        observeAccept: observeAccept)
    } catch {
      if case .refused(let text) = error, text.hasPrefix(RedisSafetyCheck.refusalPrefix) {
        throw .unsafeRedis(String(text.dropFirst(RedisSafetyCheck.refusalPrefix.count)))
      }
      throw .unavailable(error)
    }
    _ = try StoreForm(stored: form)
    return opened
  }

  /// The arguments by which accept.lua and replay.lua decide if a message enters its order line now (`entersLine` in form.lua). The form of
  /// its shard decides, which the position of the shard's consumer group shows. If no worker has taken the shard yet, `whenUntaken`
  /// decides: `accepted` in ``StoreForm/leased``, whose workers expect a message in its line from its acceptance on, else `verified`.
  var orderLineArguments: (whenUntaken: String, group: String) {
    get async throws(QueueError) {
      // No consumer group has an empty name, so every shard counts as not taken.
      if let always = linesEnteredWhenVerified.withLock({ $0 }) { return (always ? "verified" : "accepted", "") }
      return (try await form >= .owned ? "verified" : "accepted", Self.group)
    }
  }

  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// The id of the delivery, whether or not it was accepted.
  public func deliveryID(for request: AcceptRequest) -> DeliveryID { deduplication.deliveryID(request) }

  /// The record of a delivery; nil if it is unknown or has expired. That of a rejected delivery exists as long as its body.
  public func delivery(_ id: DeliveryID) async throws(QueueError) -> DeliveryRecord? {
    if let json = try await send(["GET", .string(Keys.delivery(id))]).bytes { return DeliveryRecord(id, json: json) }
    return try await rejected([id], id.shard).first.map { DeliveryRecord($0) }
  }

  /// True if a natural key was claimed within the time that the deduplication store covers.
  ///
  /// - Parameters:
  ///   - orderKey: the order key of the delivery, which decides its shard.
  ///   - long: the value of ``Completion/rememberLong`` with which the key is claimed.
  public func isNaturalKeySeen(_ naturalKey: String, orderKey: String?, long: Bool) async throws(QueueError) -> Bool {
    let shard = Shard(Int(deduplication.digest(orderKey ?? naturalKey)[0]))
    let claim = deduplication.claim(naturalKey, scope: long ? .notification : .delivery, shard: shard, now: Self.now)
    for bucket in claim.buckets
    where try await send(["SISMEMBER", .string(bucket), .integer(claim.member)]).integer == 1 { return true }
    return false
  }

  /// The event with that id, if it was published in the shard of the message and is still stored.
  public func publishedEvent(_ id: String, besides lease: LeasedMessage) async throws(QueueError) -> [UInt8]? {
    guard let entryID = try await send(["HGET", .string(Keys.eventsIndex(lease.shard)), .string(id)]).string else { return nil }
    let reply = try await send(["XRANGE", .string(Keys.events(lease.shard)), .string(entryID), .string(entryID)])
    return EventFeed.fields(reply.array?.first?.array?.last ?? .null)["e"]?.bytes
  }

  /// The text as one line of a message's history.
  static func oneLine(_ text: String) -> String { String(text.prefix(500)).replacing("\n", with: " ") }

  /// Makes a delayed message due now; false if it is not delayed, or waits in its order line.
  @discardableResult
  public func expedite(_ id: DeliveryID, in queue: QueueName) async throws(QueueError) -> Bool {
    let moved = try await run(Scripts.expedite, [Keys.delayed(queue, id.shard)], [.string(id.description)]).integer == 1
    if moved { try await schedule(queue).note(id.shard, due: Self.now) }
    return moved
  }

  /// Makes delayed messages of one shard ready, in this order and before messages that are accepted later. Returns how many were delayed.
  /// Not for a queue that is worked by deadline, which has no such order.
  @discardableResult
  public func makeReady(_ ids: [DeliveryID], in queue: QueueName) async throws(QueueError) -> Int {
    guard let shard = ids.first?.shard else { return 0 }
    let keys = [Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.ready(queue, shard)]
    return Int(try await run(Scripts.ready, keys, ids.map { .string($0.description) }).integer ?? 0)
  }

  func schedule(_ queue: QueueName) -> ShardSchedule { ShardSchedule(queue: queue, deliveries: self) }

  /// Writes to the schedule a second time after the message was stored: between the first write and the message, a worker may have queried
  /// the shard, found nothing and removed the entry.
  func noteAgain(_ queue: QueueName, _ shard: Shard, due: Int64) { scheduleWrites.add(shard, due: due, of: queue, in: self) }

  // MARK: Redis

  func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument], on client: RedisClient? = nil)
    async throws(QueueError) -> RedisReply
  {
    do { return try await script.run(client ?? redis, keys, arguments) } catch { throw .unavailable(error) }
  }

  func run(_ script: RedisScript, _ keys: EncodedArguments, _ arguments: EncodedArguments, on client: RedisClient? = nil)
    async throws(QueueError) -> RedisReply
  {
    do { return try await script.run(client ?? redis, keys, arguments) } catch { throw .unavailable(error) }
  }

  func send(_ command: [RedisArgument]) async throws(QueueError) -> RedisReply {
    do { return try await redis.send(command) } catch { throw .unavailable(error) }
  }
}
