import Cryptography
import RedisClient
import Traces

/// Accepting deliveries.
extension DeliveryQueue {
  /// Claims the idempotency key and appends the message in one step (accept.lua): the claim is a member of a set of the shard, the message an
  /// entry of the shard's ready stream, and the delivery's record is set beside it. Returns when the write is as durable as the configuration
  /// requires.
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

  /// Also stores a value in the same step, in the message's shard. If a value of that name exists already, nothing is accepted. The value
  /// is stored even if the queue is full and the message is refused.
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

  /// The maximum size of a message that is announced with its content, bytes of body and envelope. Larger ones are announced without it,
  /// because Redis copies everything that is published to its replicas. Announcements of other queues than the intake have no content.
  private static let maxAnnouncementBytes: Int64 = 4096

  /// Returns nil if the key was found claimed, and the claim was then lost, because a replica without it became the primary. The caller
  /// accepts again.
  private func acceptOnce(_ request: AcceptRequest, keeping record: OwnRecord?) async throws(QueueError) -> KeepingOutcome? {
    let digest = deduplication.digest(request.idempotencyKey)
    let id = deduplication.deliveryID(request, digest: digest)
    let now = Self.now
    var message = request.message
    message.claim = DeduplicationStore.Claim.digits(of: digest)
    // For hours instead of days: the natural key, which is claimed later, is stored for longer.
    let scope: DeduplicationScope = request.isKnownBriefly && !request.keepsOrder ? .copy : .delivery
    let claim = deduplication.claim(digest: digest, in: deduplication.generations(scope, shard: id.shard, now: now))
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
    words.append(request.queue == .intake ? Self.maxAnnouncementBytes : 0)
    if request.queue.isWorkedByDeadline {
      keys.append(Keys.byDeadline(request.queue, id.shard))
      words.append("deadlines")
      if let deadline = request.deadline { words.append(deadline) } else { words.append("") }
    } else if let line {
      keys.append(Keys.line(request.queue, id.shard, line))
      let when = try await whenLinesAreEntered
      words.append(when.word)
      words.append(line)
      words.append(when.group)
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
      // The message may have been accepted although the reply was lost.
      noteInSchedule(request.queue, id.shard, due: due)
      throw error
    }
    // For a repeat too: the process that accepted the message first may have crashed before it wrote to the schedule.
    if reply.integer == 0 || reply.integer == 1 { noteInSchedule(request.queue, id.shard, due: due) }
    if let earlier = reply.bytes { return .earlier(earlier) }
    switch reply.integer {
    case 1:
      observeAccept(request.queue)
      return .accepted(.accepted(id))
    case 0:
      // Replicas may not have confirmed the first accept.
      return try await confirm(claim, id.shard) ? .accepted(.duplicate(id)) : nil
    case -1: throw .backlogFull
    default: throw .unavailable(.unexpectedReply("accept"))
    }
  }

  /// Returns when an earlier claim is as durable as the configuration requires; false if the claim was lost. Below
  /// ``Durability/replicated`` nothing is left to wait for.
  private func confirm(_ claim: DeduplicationStore.Claim, _ shard: Shard) async throws(QueueError) -> Bool {
    guard configuration.durability == .replicated else { return true }
    let reply = try await run(Scripts.confirm, [Keys.confirmation(shard)] + claim.buckets, [.integer(claim.member)], on: durable)
    return reply.integer == 1
  }

  /// Writes to the schedule that the shard has a message due at that time, or now if `due` is zero. Messages that are due now need
  /// this only in a queue that is worked by deadline; in others the stream itself wakes the shard's owner.
  private func noteInSchedule(_ queue: QueueName, _ shard: Shard, due: Int64) {
    if due > 0 {
      noteAgain(queue, shard, due: due)
    } else if queue.isWorkedByDeadline {
      scheduleWrites.add(shard, due: Self.now, of: queue, in: self)
    }
  }
}

/// The shard, the id and the order line of a delivery. Digests are HMAC with SHA-256. Of the idempotency key's digest, bytes 4–7 choose the
/// bucket, 8–15 are the member of the bucket (``Claim``), and 16–31 the delivery's id. The first byte of the order key's digest is the shard;
/// without an order key that of the natural key's, and without both that of the idempotency key's.
extension DeduplicationStore {
  /// Identifies the order line of the request; nil if it keeps no order.
  func line(_ request: AcceptRequest) -> String? {
    guard request.keepsOrder, let orderKey = request.orderKey else { return nil }
    return Hex.encode(digest(orderKey)[16..<32])
  }

  func deliveryID(_ request: AcceptRequest) -> DeliveryID { deliveryID(request, digest: digest(request.idempotencyKey)) }

  /// - Parameter digest: ``digest(_:)`` of the idempotency key.
  func deliveryID(_ request: AcceptRequest, digest: [UInt8]) -> DeliveryID {
    let place = (request.orderKey ?? request.naturalKey).map(self.digest) ?? digest
    return DeliveryID(shard: Shard(Int(place[0])), digest: Hex.encode(digest[16..<32]))
  }
}
