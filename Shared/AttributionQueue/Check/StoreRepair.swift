import RedisClient

/// Repairs faults that can be repaired without loss. Each step checks the fault again in the same atomic step.
struct StoreRepair: Sendable {
  let redis: RedisClient

  /// Repairs a fault; returns true if it did.
  func repair(_ fault: StoreFault) async throws(RedisError) -> Bool {
    guard fault.rule.isRepairable, fault.rule != .scheduleMissing else { return false }
    // The script needs keys of a queue as placeholders when an event is repaired.
    let (queue, shard) = (fault.queue ?? .intake, fault.shard)
    let reply = try await Scripts.repair.run(
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

  /// Adds a shard to the schedule.
  func note(_ queue: QueueName, _ shard: Shard, due: Int64) async throws(RedisError) {
    _ = try await Scripts.schedule.run(
      redis, [Keys.schedule(queue), Keys.wakes(queue)], ["0", .integer(Int64(shard.index)), .integer(due)])
  }
}
