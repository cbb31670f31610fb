import RedisClient

/// Mends what can be made to agree again without a loss. Each step looks once more, so that nothing is changed that agrees by now.
struct StoreMending: Sendable {
  let redis: RedisClient

  /// Whether it was mended.
  func mend(_ fault: StoreFault) async throws(RedisError) -> Bool {
    guard fault.rule.canBeMended, fault.rule != .scheduleMissing else { return false }
    // Keys of a queue stand for nothing where an event is mended.
    let (queue, shard) = (fault.queue ?? .intake, fault.shard)
    let reply = try await Scripts.mend.run(
      redis,
      [
        Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.byDeadline(queue, shard),
        Keys.suspects(queue, shard), Keys.events(shard), Keys.eventsIndex(shard),
      ] + (fault.line.map { [Keys.line(queue, shard, $0)] } ?? []),
      [
        .string(fault.rule.rawValue), .string(fault.id), .string(fault.entry), .integer(DeliveryQueue.now), .string(DeliveryQueue.group),
      ])
    guard reply.integer == 1 else { return false }
    switch fault.rule {
    case .orphanedPayload, .waitsOutsideLine, .waitsAsFirst: try await note(queue, shard, due: DeliveryQueue.now)
    default: break
    }
    return true
  }

  /// Notes when a shard must be looked at.
  func note(_ queue: QueueName, _ shard: Shard, due: Int64) async throws(RedisError) {
    _ = try await Scripts.schedule.run(
      redis, [Keys.schedule(queue), Keys.wakes(queue)], ["0", .integer(Int64(shard.index)), .integer(due)])
  }
}
