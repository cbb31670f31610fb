import RedisClient

/// Repairs faults that can be repaired without loss. repair.lua checks each fault again in the step that repairs it.
struct StoreRepair: Sendable {
  let redis: RedisClient

  /// Repairs a fault, if that is possible; returns true if it was repaired. ``StoreCheck`` repairs the schedule by ``note(_:_:due:)``.
  func repair(_ fault: StoreFault) async throws(RedisError) -> Bool {
    guard fault.rule.isRepairable, fault.rule != .scheduleMissing else { return false }
    // A fault of an event has no queue, but the script needs the keys of one.
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
