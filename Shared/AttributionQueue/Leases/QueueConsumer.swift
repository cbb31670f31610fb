import Cryptography
import RedisClient

/// A worker's name, and its leases of messages as a consumer of the groups of the ready streams.
struct QueueConsumer: Sendable {
  let queue: QueueName
  let deliveries: DeliveryQueue
  /// The newest form that the build knows, and a unique id: `2.0f1e…`. Names of builds that know only the first form contain no form.
  let name = "\(StoreForm.newest.rawValue).\(RandomBytes.uuid())"

  /// The newest form that the build of a worker of that name knows.
  static func form(ofWorker name: some StringProtocol) -> Int {
    name.firstIndex(of: ".").flatMap { Int(name[..<$0]) } ?? StoreForm.leased.rawValue
  }

  /// Creates missing consumer groups.
  func createGroups(_ shards: [Shard]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for shard in shards {
        group.addTask {
          let reply = try await deliveries.redis.sendAllowingErrors(
            ["XGROUP", "CREATE", .string(Keys.ready(queue, shard)), .string(DeliveryQueue.group), "0", "MKSTREAM"])
          if let text = reply.error, !text.hasPrefix("BUSYGROUP") { throw QueueError.unavailable(.refused(text)) }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Leases messages of a shard that were never leased. Returns a list of {entry id, fields}.
  func lease(_ shard: Shard, limit: Int) async throws(QueueError) -> RedisReply {
    let reply = try await deliveries.send([
      "XREADGROUP", "GROUP", .string(DeliveryQueue.group), .string(name), "COUNT", .integer(Int64(limit)), "STREAMS",
      .string(Keys.ready(queue, shard)), ">",
    ])
    return reply.array?.first?.array?.last ?? .null
  }

  /// Leases messages of a shard whose lease expired (reclaim.lua). Returns a list of {entry id, fields, delivery count}, and how many
  /// messages of the shard are leased.
  func reclaim(_ shard: Shard, limit: Int = 64) async throws(QueueError) -> (entries: RedisReply, leased: Int64) {
    let reply = try await deliveries.run(
      Scripts.reclaim, [Keys.ready(queue, shard)],
      [.string(DeliveryQueue.group), .string(name), .integer(deliveries.configuration.lease.milliseconds), .integer(Int64(limit))])
    var parts = reply.elements
    guard let leased = parts.next()?.integer, let entries = parts.next() else { throw .unavailable(.unexpectedReply("reclaim")) }
    return (entries, leased)
  }

  /// Renews leases of this worker. Returns how many of them it had not lost.
  @discardableResult
  func renew(_ leases: [LeaseToken], of shard: Shard) async throws(QueueError) -> Int64 {
    let arguments: [RedisArgument] = leases.flatMap { [.string($0.entryID), .integer($0.deliveryCount)] }
    let reply = try await deliveries.run(
      Scripts.renew, [Keys.ready(queue, shard)], [.string(DeliveryQueue.group), .string(name)] + arguments)
    return reply.integer ?? 0
  }

  /// Periodically removes the names of workers that ended from the groups, until its task is cancelled.
  func removeDeadWorkers(after idle: Duration = .seconds(86_400)) async {
    while !Task.isCancelled {
      for shard in Shard.all where !Task.isCancelled {
        _ = try? await deliveries.run(
          Scripts.forget, [Keys.ready(queue, shard)], [.string(DeliveryQueue.group), .integer(idle.milliseconds)])
      }
      do { try await Task.sleep(for: .seconds(3600) * Double.random(in: 0.8...1.2)) } catch { return }
    }
  }

  /// Removes this worker's name from the groups in which it has no leases: with the consumer, Redis would delete its leases.
  func delete() async {
    await withTaskGroup(of: Void.self) { group in
      for shard in Shard.all {
        group.addTask {
          let stream = Keys.ready(queue, shard)
          let pending = try? await deliveries.send([
            "XPENDING", .string(stream), .string(DeliveryQueue.group), "-", "+", "1", .string(name),
          ])
          guard pending?.array?.isEmpty == true else { return }
          _ = try? await deliveries.send([
            "XGROUP", "DELCONSUMER", .string(stream), .string(DeliveryQueue.group), .string(name),
          ])
        }
      }
    }
  }
}
