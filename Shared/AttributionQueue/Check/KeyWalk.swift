import RedisClient

/// Scans the names of all keys (`SCAN`) for what cannot be found through other keys: records, order lines, and keys with unknown names.
struct KeyWalk: Sendable {
  struct Found: Sendable {
    var keys = 0
    /// Order lines by queue and shard.
    var lines: [QueueName: [Shard: Set<String>]] = [:]
    /// Deliveries that wait according to their records, by queue and shard.
    var accepted: [QueueName: [Shard: Set<String>]] = [:]
    var faults: [StoreFault] = []
  }

  /// The number of names that one `SCAN` examines.
  private static let step: Int64 = 512
  /// The maximum length of an unknown name in a report.
  private static let maxNameLength = 200

  let redis: RedisClient

  func walk() async throws -> Found {
    var found = Found()
    for node in try await redis.primaries() { try await walk(node, &found) }
    return found
  }

  /// Scans the nodes one by one: each primary of a cluster has its own keys.
  private func walk(_ node: NodeAddress?, _ found: inout Found) async throws {
    var cursor = "0"
    repeat {
      let reply = try await redis.send(["SCAN", .string(cursor), "COUNT", .integer(Self.step)], to: node)
      guard let parts = reply.array, parts.count == 2, let next = parts[0].string else { throw RedisError.unexpectedReply("SCAN") }
      cursor = next
      var records: [DeliveryID] = []
      for name in parts[1].elements {
        found.keys += 1
        let key = name.string ?? String(decoding: name.bytes ?? [], as: UTF8.self)
        switch KeyKind(key) {
        case .record(let id): records.append(id)
        case .line(let queue, let shard, let line): found.lines[queue, default: [:]][shard, default: []].insert(line)
        case .unknown(let shard): found.faults.append(StoreFault(.unknownKey, shard, key: String(key.prefix(Self.maxNameLength))))
        case .other, .foreign: break
        }
      }
      try await read(records, &found)
    } while cursor != "0"
  }

  private func read(_ ids: [DeliveryID], _ found: inout Found) async throws {
    // The keys are in many shards, so each needs its own command; the commands are pipelined.
    let records = try await withThrowingTaskGroup(of: (DeliveryID, RedisReply).self) { group in
      for id in ids { group.addTask { (id, try await redis.sendAllowingErrors(["GET", .string(Keys.delivery(id))])) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (id, reply) in records where !reply.isNull {
      if reply.error != nil {
        found.faults.append(StoreFault(.wrongType, id.shard, key: Keys.delivery(id), id: id.description))
        continue
      }
      guard let record = DeliveryRecord(id, json: reply.bytes ?? []) else {
        found.faults.append(StoreFault(.unreadableRecord, id.shard, key: Keys.delivery(id), id: id.description))
        continue
      }
      guard record.state == .accepted, let queue = QueueName(rawValue: record.queue) else { continue }
      found.accepted[queue, default: [:]][id.shard, default: []].insert(id.description)
    }
  }
}
