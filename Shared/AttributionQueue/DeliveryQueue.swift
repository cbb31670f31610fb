import Cryptography
public import Logging
public import RedisClient
import Synchronization
public import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// The queues in Redis: what takes deliveries in, and what is known of them. Workers take them out: ``ShardWorker``, ``DeadlineWorker``.
public final class DeliveryQueue: Sendable {
  public let configuration: QueueConfiguration
  /// Dead letters that were dropped.
  public let droppedDeadLetters = DroppedDeadLetters()
  let redis: RedisClient
  /// Answers when what it wrote is as durable as the configuration asks for.
  public let durable: RedisClient
  let deduplication: DeduplicationStore
  private let scheduleWrites = ScheduleWriteCoalescer()
  let knownForm: CachedAnswer<StoreForm>
  /// Where set, it says when messages are ordered, whatever the form is: for tests of what a Redis of before may hold.
  let ordersAfterProofAlways = Mutex<Bool?>(nil)
  public let tracer: Tracer
  let logger: Logger
  static let group = "workers"

  private init(
    redis: RedisClient, replication: RedisReplication?, configuration: QueueConfiguration, digestKey: [UInt8],
    tracer: Tracer, logger: Logger
  ) {
    self.redis = redis
    durable = replication.map { redis.replicated($0) } ?? redis
    self.configuration = configuration
    self.tracer = tracer
    self.logger = logger
    deduplication = DeduplicationStore(digestKey: digestKey, configuration: configuration)
    knownForm = Self.formLook(redis)
  }

  /// Checks that the Redis keeps what it is given, in a form that is known here, and fetches the secret digest key that all services share.
  public static func open(redis: RedisClient, configuration: QueueConfiguration, tracer: Tracer = .off, logger: Logger)
    async throws(QueueError) -> DeliveryQueue
  {
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
        redis: redis, replication: replication, configuration: configuration, digestKey: key, tracer: tracer, logger: logger)
    } catch {
      if case .refused(let text) = error, text.hasPrefix(RedisSafetyCheck.mark) {
        throw .unsafeRedis(String(text.dropFirst(RedisSafetyCheck.mark.count)))
      }
      throw .unavailable(error)
    }
    _ = try StoreForm(stored: form)
    return opened
  }

  /// Whether a message that keeps its order takes its place among the others of its order key when it is proved. In the form before, workers
  /// expect it there from its acceptance on; ``ShardWorker`` works both.
  var ordersAfterProof: Bool {
    get async throws(QueueError) {
      if let always = ordersAfterProofAlways.withLock({ $0 }) { return always }
      return try await form >= .owned
    }
  }

  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  // MARK: Accept

  /// Claims the idempotency key and appends the message in one step; answers after Redis has it as durably as it is set up for.
  public func accept(_ request: AcceptRequest) async throws(QueueError) -> AcceptOutcome {
    guard let span = tracer.sending(request) else { return try await acceptUntraced(request) }
    var request = request
    request.message.traceparent = span.traceparent
    do throws(QueueError) {
      let outcome = try await acceptUntraced(request)
      span.end(outcome)
      return outcome
    } catch {
      span.end(error: error.word)
      throw error
    }
  }

  /// The same, with a value that is kept in the same step, in the message's shard, unless one of that name is there: then nothing is accepted.
  public func accept(_ request: AcceptRequest, keeping record: OwnRecord) async throws(QueueError) -> KeepingOutcome {
    guard let span = tracer.sending(request) else { return try await acceptUntraced(request, keeping: record) }
    var request = request
    request.message.traceparent = span.traceparent
    do throws(QueueError) {
      let outcome = try await acceptUntraced(request, keeping: record)
      if case .accepted(let accepted) = outcome { span.end(accepted) } else { span.end(.duplicate(deduplication.deliveryID(request))) }
      return outcome
    } catch {
      span.end(error: error.word)
      throw error
    }
  }

  private func acceptUntraced(_ request: AcceptRequest) async throws(QueueError) -> AcceptOutcome {
    while true { if case .accepted(let outcome) = try await acceptOnce(request, keeping: nil) { return outcome } }
  }

  private func acceptUntraced(_ request: AcceptRequest, keeping record: OwnRecord) async throws(QueueError) -> KeepingOutcome {
    while true { if let outcome = try await acceptOnce(request, keeping: record) { return outcome } }
  }

  /// Nil for what was seen before and is there no more: a replica that is without it has taken over since.
  private func acceptOnce(_ request: AcceptRequest, keeping record: OwnRecord?) async throws(QueueError) -> KeepingOutcome? {
    let digest = deduplication.digest(request.idempotencyKey)
    let id = deduplication.deliveryID(request, digest: digest)
    let now = Self.now
    var message = request.message
    message.claim = DeduplicationStore.Claim.digits(of: digest)
    let store: DeduplicationScope = request.isKnownBriefly && !request.keepsOrder ? .copy : .delivery
    let claim = deduplication.claim(digest: digest, in: deduplication.generations(store, shard: id.shard, now: now))
    let due = request.notBefore.map { max(0, $0 <= now ? 0 : $0) } ?? 0
    let line = deduplication.line(request)
    if due > 0 { try await schedule(request.queue).note(id.shard, due: due) }
    var keys = EncodedArguments(reserving: 512)
    claim.append(to: &keys, now: now)
    keys.append(Keys.ready(request.queue, id.shard))
    keys.append(Keys.delayed(request.queue, id.shard))
    keys.append(Keys.payloads(request.queue, id.shard))
    keys.append(Keys.delivery(id))
    var words = EncodedArguments(reserving: message.body.count + 1024)
    words.append(claim.member)
    words.append(claim.expirySeconds)
    words.append(Int64(max(1, Double(configuration.backlogBound / Shard.count) * request.backlogShare)))
    words.append(id.description)
    words.append(configuration.deliveryRecordTTL.wholeSeconds)
    words.append(DeliveryRecord(id, accepted: message, in: request.queue).json)
    words.append(due)
    words.append(message.kind)
    words.append(message.body)
    words.append(message.envelope)
    // A queue that is worked by deadline keeps no order.
    if request.queue.isWorkedByDeadline {
      keys.append(Keys.byDeadline(request.queue, id.shard))
      words.append("")
      if let deadline = request.deadline { words.append(deadline) } else { words.append("") }
    } else if let line {
      if try await !ordersAfterProof { keys.append(Keys.line(request.queue, id.shard, line)) }
      words.append(line)
    }
    if let record {
      keys.append(Keys.own(record.service, record.name, id.shard))
      words.append(record.value)
      words.append(record.life.wholeSeconds)
    }
    let reply: RedisReply
    do {
      reply = try await run(record == nil ? Scripts.accept : Scripts.acceptKeeping, keys, words, on: durable)
    } catch {
      // It may have been taken, and only the answer is lost.
      tell(request.queue, id.shard, due: due)
      throw error
    }
    // Of what was seen before the process that took it may have died before it told.
    if reply.integer == 0 || reply.integer == 1 { tell(request.queue, id.shard, due: due) }
    if let earlier = reply.bytes { return .earlier(earlier) }
    switch reply.integer {
    case 1:
      return .accepted(.accepted(id))
    case 0:
      // The first accept may have been taken and not confirmed.
      return try await confirm(claim, id.shard) ? .accepted(.duplicate(id)) : nil
    case -1: throw .backlogFull
    default: throw .unavailable(.unexpectedReply("accept"))
    }
  }

  /// Answers when what was seen before is as durable as the configuration asks for; false where it is there no more. Below
  /// ``Durability/replicated`` it is when Redis has answered.
  private func confirm(_ claim: DeduplicationStore.Claim, _ shard: Shard) async throws(QueueError) -> Bool {
    guard configuration.durability == .replicated else { return true }
    let reply = try await run(Scripts.confirm, [Keys.confirmation(shard)] + claim.buckets, [.integer(claim.member)], on: durable)
    return reply.integer == 1
  }

  /// The id that a delivery has or would have.
  public func deliveryID(for request: AcceptRequest) -> DeliveryID { deduplication.deliveryID(request) }

  /// What is known of a delivery; nil when it is unknown or forgotten.
  public func delivery(_ id: DeliveryID) async throws(QueueError) -> DeliveryRecord? {
    try await send(["GET", .string(Keys.delivery(id))]).bytes.flatMap { DeliveryRecord(id, json: $0) }
  }

  /// Whether a natural key was counted already, as far as the store remembers.
  public func isNaturalKeySeen(_ naturalKey: String, orderKey: String?, long: Bool) async throws(QueueError) -> Bool {
    let place = deduplication.digest(orderKey ?? naturalKey)
    let shard = Shard(Int(place[0]))
    let claim = deduplication.claim(naturalKey, store: long ? .notification : .delivery, shard: shard, now: Self.now)
    for bucket in claim.buckets
    where try await send(["SISMEMBER", .string(bucket), .integer(claim.member)]).integer == 1 { return true }
    return false
  }

  /// The event of that id, while it is kept, if it came of a delivery with the message's natural key.
  public func publishedEvent(_ id: String, besides lease: LeasedMessage) async throws(QueueError) -> [UInt8]? {
    guard let place = try await send(["HGET", .string(Keys.eventsIndex(lease.shard)), .string(id)]).string else { return nil }
    let reply = try await send(["XRANGE", .string(Keys.events(lease.shard)), .string(place), .string(place)])
    return EventFeed.fields(reply.array?.first?.array?.last ?? .null)["e"]?.bytes
  }

  /// The body of a rejected delivery, as long as it is kept.
  public func rejectedBody(_ id: DeliveryID) async throws(QueueError) -> [UInt8]? {
    let entries = try await send(["XREVRANGE", .string(Keys.rejected(id.shard)), "+", "-"]).array ?? []
    for entry in entries {
      let fields = EventFeed.fields(entry.array?.last ?? .null)
      if fields["i"]?.string == id.description { return fields["b"]?.bytes }
    }
    return nil
  }

  /// As histories keep it.
  static func oneLine(_ text: String) -> String { String(text.prefix(500)).replacing("\n", with: " ") }

  /// Makes a delayed message due now; false when it is not waiting.
  @discardableResult
  public func expedite(_ id: DeliveryID, in queue: QueueName) async throws(QueueError) -> Bool {
    let moved = try await run(Scripts.expedite, [Keys.delayed(queue, id.shard)], [.string(id.description)]).integer == 1
    if moved { try await schedule(queue).note(id.shard, due: Self.now) }
    return moved
  }

  /// Makes delayed messages of one shard ready, in this order and before whatever is accepted from now on; how many were waiting. Not
  /// for a queue that is worked by deadline: that has no such order.
  @discardableResult
  public func makeReady(_ ids: [DeliveryID], in queue: QueueName) async throws(QueueError) -> Int {
    guard let shard = ids.first?.shard else { return 0 }
    let keys = [Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.ready(queue, shard)]
    return Int(try await run(Scripts.ready, keys, ids.map { .string($0.description) }).integer ?? 0)
  }

  func schedule(_ queue: QueueName) -> ShardSchedule { ShardSchedule(queue: queue, deliveries: self) }

  /// Notes again what was noted before it was there: one may have looked for something earlier of the shard meanwhile, and found
  /// nothing.
  func noteAgain(_ queue: QueueName, _ shard: Shard, due: Int64) { scheduleWrites.add(shard, due: due, of: queue, in: self) }

  /// Something is in the shard, to be worked then, or at once. Of what is to be worked at once this is noted where workers go by deadline
  /// and look only where something is noted; others wait at the stream.
  private func tell(_ queue: QueueName, _ shard: Shard, due: Int64) {
    if due > 0 {
      noteAgain(queue, shard, due: due)
    } else if queue.isWorkedByDeadline {
      scheduleWrites.add(shard, due: Self.now, of: queue, in: self)
    }
  }

  // MARK: Redis

  func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument], on client: RedisClient? = nil)
    async throws(QueueError) -> RedisReply
  {
    do { return try await script.run(client ?? redis, keys, arguments) } catch { throw .unavailable(error) }
  }

  func run(_ script: RedisScript, _ keys: EncodedArguments, _ words: EncodedArguments, on client: RedisClient? = nil)
    async throws(QueueError) -> RedisReply
  {
    do { return try await script.run(client ?? redis, keys, words) } catch { throw .unavailable(error) }
  }

  func send(_ words: [RedisArgument]) async throws(QueueError) -> RedisReply {
    do { return try await redis.send(words) } catch { throw .unavailable(error) }
  }
}
