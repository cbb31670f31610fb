import Cryptography
import RedisClient
import Traces

/// Accepting deliveries.
extension DeliveryQueue {
  /// Claims the idempotency key, appends the message to the ready stream of its shard, and writes the delivery's record, in one atomic step
  /// (accept.lua). Returns when the write is as durable as ``QueueConfiguration/durability`` requires.
  public func accept(_ request: AcceptRequest) async throws(QueueError) -> AcceptOutcome {
    guard let span = tracer.sending(request) else { return try await acceptUntraced(request) }
    var request = request
    request.message.traceparent = span.traceparent
    do throws(QueueError) {
      let outcome = try await acceptUntraced(request)
      span.end(outcome)
      return outcome
    } catch {
      span.end(error: error.label)
      throw error
    }
  }

  /// Accepts the delivery and stores a value in the message's shard, in the same step (keep.lua). If a value of that name exists already,
  /// nothing is accepted. The value is stored even if the queue is full and the message is refused.
  public func accept(_ request: AcceptRequest, keeping record: OwnRecord) async throws(QueueError) -> KeepingOutcome {
    guard let span = tracer.sending(request) else { return try await acceptUntraced(request, keeping: record) }
    var request = request
    request.message.traceparent = span.traceparent
    do throws(QueueError) {
      let outcome = try await acceptUntraced(request, keeping: record)
      if case .accepted(let accepted) = outcome { span.end(accepted) } else { span.end(.duplicate(deduplication.deliveryID(request))) }
      return outcome
    } catch {
      span.end(error: error.label)
      throw error
    }
  }

  private func acceptUntraced(_ request: AcceptRequest) async throws(QueueError) -> AcceptOutcome {
    while true { if case .accepted(let outcome) = try await acceptOnce(request, keeping: nil) { return outcome } }
  }

  private func acceptUntraced(_ request: AcceptRequest, keeping record: OwnRecord) async throws(QueueError) -> KeepingOutcome {
    while true { if let outcome = try await acceptOnce(request, keeping: record) { return outcome } }
  }

  /// The maximum size of a message that accept.lua announces with its content, bytes of body and envelope. Larger ones are announced
  /// without it, because Redis copies everything that is published to its replicas. In other queues than the intake, announcements have no
  /// content.
  private static let maxAnnouncementBytes: Int64 = 4096

  /// Returns nil if accept.lua found the key claimed, but a failover then lost the claim. The caller must accept again.
  private func acceptOnce(_ request: AcceptRequest, keeping record: OwnRecord?) async throws(QueueError) -> KeepingOutcome? {
    let digest = deduplication.digest(request.idempotencyKey)
    let id = deduplication.deliveryID(request, digest: digest)
    let now = Self.now
    var message = request.message
    message.claim = DeduplicationStore.Claim.digits(of: digest)
    // The scope `copy` stores the idempotency key for hours, `delivery` for days. A copy's natural key is claimed when its message is
    // completed, and is stored for days too.
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
    var arguments = EncodedArguments(reserving: message.body.count + 1024)
    arguments.append(claim.member)
    arguments.append(claim.expirySeconds)
    arguments.append(Int64(max(1, Double(configuration.backlogBound / Shard.count) * request.backlogShare)))
    arguments.append(id.description)
    arguments.append(configuration.deliveryRecordTTL.wholeSeconds)
    arguments.append(DeliveryRecord(id, accepted: message, in: request.queue).json)
    arguments.append(due)
    arguments.append(message.kind)
    arguments.append(message.body)
    arguments.append(message.envelope)
    arguments.append(request.queue == .intake ? Self.maxAnnouncementBytes : 0)
    if request.queue.isWorkedByDeadline {
      keys.append(Keys.byDeadline(request.queue, id.shard))
      arguments.append("deadlines")
      if let deadline = request.deadline { arguments.append(deadline) } else { arguments.append("") }
    } else if let line {
      keys.append(Keys.line(request.queue, id.shard, line))
      let order = try await orderLineArguments
      arguments.append(order.whenUntaken)
      arguments.append(line)
      arguments.append(order.group)
    }
    if let record {
      keys.append(Keys.own(record.service, record.name, id.shard))
      arguments.append(record.value)
      arguments.append(record.ttl.wholeSeconds)
    }
    let reply: RedisReply
    do {
      reply = try await run(record == nil ? Scripts.accept : Scripts.acceptKeeping, keys, arguments, on: durable)
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

  /// Returns when a claim that accept.lua found is as durable as the configuration requires (confirm.lua); false if the claim was lost.
  /// Below ``Durability/replicated``, the reply of accept.lua is enough.
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

/// The shard, the id and the order line of a delivery. They are parts of keyed digests (HMAC with SHA-256, 32 bytes):
/// - Of the idempotency key's digest, bytes 4–7 choose the bucket, bytes 8–15 are the member of the bucket (``Claim``), and bytes 16–31 are
///   the delivery's id.
/// - The first byte of the order key's digest is the shard. Without an order key it is that of the natural key's digest, and without either
///   that of the idempotency key's.
/// - Bytes 16–31 of the order key's digest name the order line.
extension DeduplicationStore {
  /// Identifies the order line of the request; nil if it keeps no order.
  func line(_ request: AcceptRequest) -> String? {
    guard request.keepsOrder, let orderKey = request.orderKey else { return nil }
    return Hex.encode(digest(orderKey)[16..<32])
  }

  func deliveryID(_ request: AcceptRequest) -> DeliveryID { deliveryID(request, digest: digest(request.idempotencyKey)) }

  /// - Parameter digest: ``digest(_:)`` of the idempotency key.
  func deliveryID(_ request: AcceptRequest, digest: [UInt8]) -> DeliveryID {
    let shardDigest = (request.orderKey ?? request.naturalKey).map(self.digest) ?? digest
    return DeliveryID(shard: Shard(Int(shardDigest[0])), digest: Hex.encode(digest[16..<32]))
  }
}
