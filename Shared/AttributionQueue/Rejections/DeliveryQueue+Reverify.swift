import RedisClient

/// What happened to a rejected delivery that was to be judged again.
public struct Reverification: Sendable, Hashable {
  public enum State: String, Sendable, Hashable {
    /// It is in its queue again.
    case queued
    /// It was not rejected, or it was verified or queued again since.
    case notRejected = "not_rejected"
    /// Its body is not stored any more.
    case notKept = "not_kept"
    case notFound = "not_found"
  }

  public let id: DeliveryID
  public let state: State
  /// The id of the rejection's event.
  public let eventId: String?
}

/// Judging rejected deliveries again. commit.lua stores the message of a rejected delivery (``Completion/keptBody``), and reverify.lua moves it
/// back into the queue. So no delivery is queued twice, whatever process ends in between.
extension DeliveryQueue {
  /// The body of a rejected delivery; nil if it is not stored.
  public func rejectedBody(_ id: DeliveryID) async throws(QueueError) -> [UInt8]? {
    let packed = try await send(["HGET", .string(Keys.rejectedBodies(id.shard)), .string(id.description)]).bytes
    return packed.flatMap { PackedPayload($0)?.body }
  }

  /// Queues deliveries again. Returns a result for each id, in this order.
  public func reverify(_ ids: [DeliveryID]) async throws(QueueError) -> [Reverification] {
    var found: [RejectedDelivery] = []
    for (shard, ids) in Dictionary(grouping: ids, by: \.shard) { found += try await rejected(ids, shard) }
    let queued = try await requeue(found)
    var results: [Reverification] = []
    for id in ids {
      if let result = queued[id] { results.append(result) } else { results.append(try await withoutBody(id)) }
    }
    return results
  }

  /// The result for a delivery whose body is not stored.
  private func withoutBody(_ id: DeliveryID) async throws(QueueError) -> Reverification {
    let record = try await delivery(id)
    return Reverification(
      id: id, state: record.map { $0.state == .rejected ? .notKept : .notRejected } ?? .notFound,
      eventId: record.flatMap { $0.state == .rejected ? $0.eventId : $0.earlierRejection?.eventId })
  }

  /// Queues the selected deliveries again whose bodies are stored, up to `limit` of them. `next` is the position after which the next page
  /// begins, or nil on the last page.
  public func reverify(
    _ filter: RejectionFilter, after position: RejectionPosition? = nil, limit: Int
  ) async throws(QueueError) -> (results: [Reverification], next: RejectionPosition?) {
    let start = position?.start ?? Self.now
    let end = min(filter.end ?? .max, start + 1)
    var (found, next): ([RejectedDelivery], RejectionPosition?) = ([], nil)
    for shard in Shard.all[(position?.shard.index ?? 0)...] {
      // One more than fits shows whether another page follows.
      let more = try await rejected(
        filter, shard, before: end, after: position?.shard == shard ? position?.entry : nil, limit: limit + 1 - found.count)
      for delivery in more where next == nil {
        if found.count == limit, let last = found.last {
          next = RejectionPosition(shard: last.id.shard, entry: last.entry, start: start)
        } else {
          found.append(delivery)
        }
      }
      if next != nil { break }
    }
    let queued = try await requeue(found)
    return (found.compactMap { queued[$0.id] }, next)
  }

  // MARK: Steps

  /// Those of the deliveries whose bodies are stored.
  func rejected(_ ids: [DeliveryID], _ shard: Shard) async throws(QueueError) -> [RejectedDelivery] {
    try await rejected(shard, ["ids"] + ids.map { .string($0.description) })
  }

  private func rejected(
    _ filter: RejectionFilter, _ shard: Shard, before end: Int64, after entry: String?, limit: Int
  ) async throws(QueueError) -> [RejectedDelivery] {
    try await rejected(
      shard,
      [
        "select", .string(filter.kind ?? ""), .string(filter.reason ?? ""), .string(RejectedDelivery.digits(filter.start)),
        .string(RejectedDelivery.digits(end)), .string(entry ?? ""), .integer(Int64(limit)),
      ])
  }

  private func rejected(_ shard: Shard, _ arguments: [RedisArgument]) async throws(QueueError) -> [RejectedDelivery] {
    let reply = try await run(Scripts.findRejected, [Keys.rejectedBodies(shard), Keys.rejectedIndex(shard)], arguments)
    return reply.array?.compactMap { RejectedDelivery($0) } ?? []
  }

  /// Queues deliveries again: those of a shard in the order in which they were received, because they may be about the same purchase.
  private func requeue(_ found: [RejectedDelivery]) async throws(QueueError) -> [DeliveryID: Reverification] {
    guard !found.isEmpty else { return [:] }
    let order = try await orderLineArguments
    let shards = await withTaskGroup(of: Result<[Reverification], QueueError>.self) { group in
      for ofShard in Dictionary(grouping: found, by: \.id.shard).values {
        group.addTask {
          var results: [Reverification] = []
          for delivery in ofShard.sorted(by: { $0.message.receivedAt < $1.message.receivedAt }) {
            do throws(QueueError) { results.append(try await self.requeue(delivery, order)) } catch { return .failure(error) }
          }
          return .success(results)
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var results: [DeliveryID: Reverification] = [:]
    for shard in shards { for one in try shard.get() { results[one.id] = one } }
    return results
  }

  private func requeue(
    _ delivery: RejectedDelivery, _ order: (whenUntaken: String, group: String)
  ) async throws(QueueError) -> Reverification {
    let (id, shard, queue) = (delivery.id, delivery.id.shard, QueueName.intake)
    var message = delivery.message
    message.attributes[EarlierRejection.attribute] = delivery.rejection.text
    let reply = try await run(
      Scripts.reverify,
      [
        Keys.rejectedBodies(shard), Keys.rejectedIndex(shard), Keys.rejectedSizes(shard), Keys.delivery(id), Keys.ready(queue, shard),
        Keys.delayed(queue, shard), Keys.payloads(queue, shard),
      ] + (delivery.line.map { [Keys.line(queue, shard, $0)] } ?? []),
      [
        .string(id.description), .string(delivery.entry), .bytes(message.envelope),
        .bytes(DeliveryRecord(id, accepted: message, in: queue).json), .integer(configuration.deliveryRecordTTL.wholeSeconds),
        .string(order.whenUntaken), .string(order.group),
      ])
    switch reply.integer {
    case 1: return Reverification(id: id, state: .queued, eventId: delivery.rejection.eventId)
    case 0: return try await withoutBody(id)
    case -1: return Reverification(id: id, state: .notRejected, eventId: delivery.rejection.eventId)
    default: throw .unavailable(.unexpectedReply("reverify"))
    }
  }
}
