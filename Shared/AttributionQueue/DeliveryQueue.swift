import Cryptography
public import Logging
public import RedisClient

#if canImport(Glibc)
  import Glibc
#endif

/// The two atomic steps and what lies between them: accept, lease, retry, complete, dead letter.
public final class DeliveryQueue: Sendable {
  public let configuration: QueueConfiguration
  /// Dead letters that were dropped.
  public let droppedLetters = DroppedLetters()
  let redis: RedisClient
  /// Answers when what it wrote is as durable as the configuration asks for.
  private let durable: RedisClient
  let seen: SeenBefore
  private let notes = PendingNotes()
  let knownForm: CachedAnswer<StoreForm>
  let logger: Logger
  static let group = "workers"

  private init(
    redis: RedisClient, replication: RedisReplication?, configuration: QueueConfiguration, digestKey: [UInt8], logger: Logger
  ) {
    self.redis = redis
    durable = replication.map { redis.replicated($0) } ?? redis
    self.configuration = configuration
    self.logger = logger
    seen = SeenBefore(digestKey: digestKey, configuration: configuration)
    knownForm = Self.formLook(redis)
  }

  /// Checks that the Redis keeps what it is given, in a form that is known here, and fetches the secret digest key that all services share.
  public static func open(redis: RedisClient, configuration: QueueConfiguration, logger: Logger)
    async throws(QueueError) -> DeliveryQueue
  {
    let (opened, form): (DeliveryQueue, String?)
    do throws(RedisError) {
      let replication = try await RedisGuard.check(redis, configuration, logger: logger)
      let reply = try await Scripts.open.run(
        redis, [Keys.digestKey, Keys.form], [.bytes(RandomBytes.make(32)), .integer(Int64(StoreForm.newest.rawValue))])
      guard let parts = reply.array, parts.count == 2, let key = parts[0].bytes, key.count == 32 else {
        throw .unexpectedReply("open")
      }
      form = parts[1].string
      opened = DeliveryQueue(redis: redis, replication: replication, configuration: configuration, digestKey: key, logger: logger)
    } catch {
      if case .refused(let text) = error, text.hasPrefix(RedisGuard.mark) {
        throw .unsafeRedis(String(text.dropFirst(RedisGuard.mark.count)))
      }
      throw .unavailable(error)
    }
    _ = try StoreForm(stored: form)
    return opened
  }

  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  // MARK: Accept

  /// Claims the idempotency key and appends the message in one step; answers after Redis has it as durably as it is set up for.
  public func accept(_ request: AcceptRequest) async throws(QueueError) -> AcceptOutcome {
    let digest = seen.digest(request.idempotencyKey)
    let id = seen.deliveryID(request, digest: digest)
    let now = Self.now
    var message = request.message
    message.claim = SeenBefore.Claim.digits(of: digest)
    let claim = seen.claim(digest: digest, in: seen.generations(.delivery, shard: id.shard, now: now))
    let due = request.notBefore.map { max(0, $0 <= now ? 0 : $0) } ?? 0
    let line = seen.line(request)
    if due > 0 { try await schedule(request.queue).note(id.shard, due: due) }
    var keys = RedisWords(reserving: 512)
    claim.append(to: &keys)
    keys.append(Keys.ready(request.queue, id.shard))
    keys.append(Keys.delayed(request.queue, id.shard))
    keys.append(Keys.payloads(request.queue, id.shard))
    keys.append(Keys.delivery(id))
    var words = RedisWords(reserving: message.body.count + 1024)
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
      keys.append(Keys.line(request.queue, id.shard, line))
      words.append(line)
    }
    let reply: RedisReply
    do {
      reply = try await run(Scripts.accept, keys, words, on: durable)
    } catch {
      // It may have been taken, and only the answer is lost.
      tell(request.queue, id.shard, due: due)
      throw error
    }
    // Of what was seen before the process that took it may have died before it told.
    if reply.integer == 0 || reply.integer == 1 { tell(request.queue, id.shard, due: due) }
    switch reply.integer {
    case 1:
      return .accepted(id)
    case 0:
      // The first accept may have been taken and not confirmed. What is written now and confirmed stands behind it.
      try await confirm(id.shard)
      return .duplicate(id)
    case -1: throw .backlogFull
    default: throw .unavailable(.unexpectedReply("accept"))
    }
  }

  /// Answers when all that a caller has written is as durable as the configuration asks for. Below ``Durability/replicated`` it is when
  /// Redis has answered.
  public func confirm(_ shard: Shard) async throws(QueueError) {
    guard configuration.durability == .replicated else { return }
    do { _ = try await durable.send(["SET", .string(Keys.confirmation(shard)), "1"]) } catch { throw .unavailable(error) }
  }

  /// The id that a delivery has or would have.
  public func deliveryID(for request: AcceptRequest) -> DeliveryID { seen.deliveryID(request) }

  /// What is known of a delivery; nil when it is unknown or forgotten.
  public func delivery(_ id: DeliveryID) async throws(QueueError) -> DeliveryRecord? {
    try await send(["GET", .string(Keys.delivery(id))]).bytes.flatMap { DeliveryRecord(id, json: $0) }
  }

  /// Whether a natural key was counted already, as far as the store remembers.
  public func isNaturalKeySeen(_ naturalKey: String, orderKey: String?, long: Bool) async throws(QueueError) -> Bool {
    let place = seen.digest(orderKey ?? naturalKey)
    let shard = Shard(Int(place[0]))
    let claim = seen.claim(naturalKey, store: long ? .notification : .delivery, shard: shard, now: Self.now)
    for bucket in claim.buckets
    where try await send(["SISMEMBER", .string(bucket), .integer(claim.member)]).integer == 1 { return true }
    return false
  }

  // MARK: What a worker does with a lease

  /// Publishes the outcome and takes the message off the queue in one step. Throws `leaseLost` when another holds it now.
  @discardableResult
  public func complete(_ lease: LeasedMessage, _ completion: Completion) async throws(QueueError) -> CompletionOutcome {
    var call = completionCall(of: lease)
    call.add(lease, completion, now: Self.now)
    guard let outcome = try await complete(call).first, let outcome else { throw .leaseLost }
    return outcome
  }

  /// To be told of messages of that one's queue, shard and consumer; of so many about.
  func completionCall(of lease: LeasedMessage, many: Int = 1) -> CompletionCall {
    CompletionCall(of: lease, many: many, configuration, seen, now: Self.now)
  }

  /// The same for all that the call was told of, in one step; nil for one whose lease is lost.
  func complete(_ call: CompletionCall) async throws(QueueError) -> [CompletionOutcome?] {
    guard let first = call.works.first?.lease else { return [] }
    let codes = try await run(Scripts.complete, call.keys, call.arguments(now: Self.now)).elements.map(\.integer)
    guard codes.count == call.works.count else { throw .unavailable(.unexpectedReply("complete")) }
    if call.leavesDeadLetter { await boundDeadLetters(first) }
    return codes.map { code in
      switch code {
      case 1: .completed
      case 0: .naturalKeySeen
      case 2: .held
      default: nil
      }
    }
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

  /// Does what a handler decided; how it went, as metrics call it. A retry that leaves its time to us ends with the last attempt.
  func settle(_ lease: LeasedMessage, _ outcome: WorkOutcome) async throws(QueueError) -> String {
    switch outcome {
    case .complete(let completion):
      try await complete(lease, completion)
      return completion.word ?? completion.state.rawValue
    case .retry(let delay, let error):
      guard delay != nil || lease.attempt < configuration.maxAttempts else {
        try await deadLetter(lease, error: error)
        return "dead"
      }
      try await retry(lease, after: delay ?? configuration.backoff(lease.attempt), error: error)
      return "retried"
    case .wait(let delay):
      try await wait(lease, for: delay)
      return "waiting"
    case .deadLetter(let error):
      try await deadLetter(lease, error: error)
      return "dead"
    case .giveBack:
      try await release(lease)
      return "given_back"
    }
  }

  /// Puts the message among the delayed ones.
  public func retry(_ lease: LeasedMessage, after delay: Duration, error: String) async throws(QueueError) {
    try await postpone(lease, delay) { due throws(QueueError) in try await putBack(lease, due: due, error: error) }
  }

  /// The same, and it counts as no attempt and leaves no line in the history.
  func wait(_ lease: LeasedMessage, for delay: Duration) async throws(QueueError) {
    try await postpone(lease, delay) { due throws(QueueError) in try await putBack(lease, due: -due, error: "") }
  }

  private func postpone(_ lease: LeasedMessage, _ delay: Duration, _ put: (Int64) async throws(QueueError) -> Void)
    async throws(QueueError)
  {
    let due = Self.now + max(0, delay.milliseconds)
    // Before it is put there, so that a process that dies in between makes no message late.
    try await schedule(lease.queue).note(lease.shard, due: due)
    try await put(due)
    noteAgain(lease.queue, lease.shard, due: due)
  }

  /// Moves the message, whole, to the dead letters.
  public func deadLetter(_ lease: LeasedMessage, error: String) async throws(QueueError) {
    try await putBack(lease, due: -1, error: error)
    await boundDeadLetters(lease)
  }

  /// The letter is where it belongs; what of its bound cannot be seen to now is when the worker looks by itself.
  private func boundDeadLetters(_ lease: LeasedMessage) async {
    try? await DeadLetterBound(queue: lease.queue, deliveries: self).enforce(lease.shard)
  }

  /// As histories keep it.
  static func oneLine(_ text: String) -> String { String(text.prefix(500)).replacing("\n", with: " ") }

  /// Gives the message back untouched, for another worker to take at once.
  public func release(_ lease: LeasedMessage) async throws(QueueError) {
    try await putBack(lease, due: -2, error: "")
    tell(lease.queue, lease.shard, due: 0)
  }

  /// Starts the lease's time anew.
  func renew(_ lease: LeasedMessage) async throws(QueueError) {
    try await renew(lease.token, of: lease.shard, in: lease.queue, consumer: lease.consumer)
  }

  /// The same of what was leased and may not be read yet.
  func renew(_ lease: LeaseToken, of shard: Shard, in queue: QueueName, consumer: String) async throws(QueueError) {
    let reply = try await run(Scripts.renew, [Keys.ready(queue, shard)], words(lease, consumer))
    guard reply.integer == 1 else { throw .leaseLost }
  }

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

  private func putBack(_ lease: LeasedMessage, due: Int64, error: String) async throws(QueueError) {
    let shard = lease.shard
    let now = Self.now
    var record = DeliveryRecord(lease)
    record.lastError = Self.oneLine(error)
    if due == -1 {
      record.state = .dead
      record.completedAt = now
    }
    let reply = try await run(
      Scripts.retry,
      [
        Keys.ready(lease.queue, shard), Keys.delayed(lease.queue, shard), Keys.payloads(lease.queue, shard),
        Keys.dead(lease.queue, shard), Keys.delivery(lease.deliveryID),
      ] + (lease.line.map { [Keys.line(lease.queue, shard, $0)] } ?? []),
      words(lease.token, lease.consumer) + [
        .integer(due), .string(lease.deliveryID.description),
        .string(Self.oneLine(error)),
        .integer(now), .integer(configuration.deliveryRecordTTL.wholeSeconds), .bytes(record.json),
      ])
    guard reply.integer == 1 else { throw .leaseLost }
  }

  private func words(_ lease: LeaseToken, _ consumer: String) -> [RedisArgument] {
    [.string(Self.group), .string(consumer), .string(lease.entryID), .integer(lease.deliveryCount)]
  }

  func schedule(_ queue: QueueName) -> ShardSchedule { ShardSchedule(queue: queue, deliveries: self) }

  /// Notes again what was noted before it was there: one may have looked for something earlier of the shard meanwhile, and found
  /// nothing.
  func noteAgain(_ queue: QueueName, _ shard: Shard, due: Int64) { notes.add(shard, due: due, of: queue, in: self) }

  /// Something is in the shard, to be worked then, or at once. Of what is to be worked at once this is noted where workers go by deadline
  /// and look only where something is noted; others wait at the stream.
  private func tell(_ queue: QueueName, _ shard: Shard, due: Int64) {
    if due > 0 {
      noteAgain(queue, shard, due: due)
    } else if queue.isWorkedByDeadline {
      notes.add(shard, due: Self.now, of: queue, in: self)
    }
  }

  // MARK: Redis

  func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument], on client: RedisClient? = nil)
    async throws(QueueError) -> RedisReply
  {
    do { return try await script.run(client ?? redis, keys, arguments) } catch { throw .unavailable(error) }
  }

  func run(_ script: RedisScript, _ keys: RedisWords, _ words: RedisWords, on client: RedisClient? = nil)
    async throws(QueueError) -> RedisReply
  {
    do { return try await script.run(client ?? redis, keys, words) } catch { throw .unavailable(error) }
  }

  func send(_ words: [RedisArgument]) async throws(QueueError) -> RedisReply {
    do { return try await redis.send(words) } catch { throw .unavailable(error) }
  }
}
