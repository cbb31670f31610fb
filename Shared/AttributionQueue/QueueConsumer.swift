import Cryptography
import RedisClient

/// A worker's place in the consumer groups of a queue's ready streams.
struct QueueConsumer: Sendable {
  /// How many messages of a shard are taken over at once.
  private static let reclaimed: RedisArgument = 64

  let queue: QueueName
  let deliveries: DeliveryQueue
  let name = RandomBytes.uuid()

  /// Reads an entry that was delivered to this consumer, as a shard's stream has it, its id and its fields. One that cannot be read
  /// becomes a dead letter. `kindBefore`: see ``LeasedMessage``.
  func lease(entry: RedisReply, of shard: Shard, kindBefore: String = "") -> LeasedMessage? {
    var parts = entry.elements
    guard let id = parts.nextString(), let fields = parts.next() else { return nil }
    if let message = lease(entryID: id, fields: fields, deliveryCount: 1, of: shard, kindBefore: kindBefore) { return message }
    // Where this does not come to its end the lease runs out, and who takes the entry over does it.
    Task { await bury(UnreadableEntry(entryID: id, fields: fields), deliveryCount: 1, of: shard) }
    return nil
  }

  /// A delivery of another shard is none of this stream: its lease could not be settled.
  private func lease(
    entryID: String, fields: RedisReply, deliveryCount: Int64, of shard: Shard, kindBefore: String = ""
  ) -> LeasedMessage? {
    let message = LeasedMessage(
      queue: queue, entryID: entryID, fields: fields, deliveryCount: deliveryCount, consumer: name, kindBefore: kindBefore)
    return message?.shard == shard ? message : nil
  }

  /// Makes a dead letter of it, which keeps all that it has.
  private func bury(_ entry: UnreadableEntry, deliveryCount: Int64, of shard: Shard) async {
    let id = entry.letterID(in: shard)
    let now = DeliveryQueue.now
    let record = DeliveryRecord(
      id: id, state: .dead, queue: queue.rawValue, kind: entry.kind ?? "", completedAt: now, attempts: Int(deliveryCount),
      lastError: UnreadableEntry.reason)
    let keys =
      [Keys.ready(queue, shard), Keys.dead(queue, shard), Keys.delivery(id)]
      + (entry.line.map { [Keys.line(queue, shard, $0), Keys.delayed(queue, shard), Keys.payloads(queue, shard)] } ?? [])
    do {
      let reply = try await deliveries.run(
        Scripts.bury, keys,
        [
          .string(DeliveryQueue.group), .string(name), .string(entry.entryID), .integer(deliveryCount), .string(id.description),
          .string(UnreadableEntry.reason), .integer(now), .bytes(record.json), entry.canBePutBack(in: shard) ? "0" : "1",
          .bytes(entry.id),
        ])
      guard reply.integer == 1 else { return }
      logDead(id, UnreadableEntry.reason)
      try await DeadLetterBound(queue: queue, deliveries: deliveries).enforce(shard)
    } catch {
      deliveries.logger.error(
        "an entry that cannot be read stays in its queue for now",
        metadata: ["queue": "\(queue.rawValue)", "entry": "\(entry.entryID)", "shard": "\(shard.index)", "error": "\(error)"])
    }
  }

  private func logDead(_ id: DeliveryID, _ reason: String) {
    deliveries.logger.error(
      "a message became a dead letter", metadata: ["queue": "\(queue.rawValue)", "delivery": "\(id)", "reason": "\(reason)"])
  }

  /// Makes the groups that are not there.
  func createGroups(_ shards: [Shard]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for shard in shards {
        group.addTask {
          let reply = try await deliveries.redis.sendAllowingErrors(
            ["XGROUP", "CREATE", .string(Keys.ready(queue, shard)), .string(DeliveryQueue.group), "0", "MKSTREAM"])
          if let text = reply.error, !text.hasPrefix("BUSYGROUP") {
            throw QueueError.unavailable(.refused(text))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Takes over messages of a shard whose lease ran out; how many are leased there, nil when Redis did not say. One that was taken
  /// over too often is given up.
  func reclaim(_ shard: Shard) async -> (messages: [LeasedMessage], leased: Int64?) {
    let reply = try? await deliveries.run(
      Scripts.reclaim, [Keys.ready(queue, shard)],
      [.string(DeliveryQueue.group), .string(name), .integer(deliveries.configuration.lease.milliseconds), Self.reclaimed])
    var taken: [LeasedMessage] = []
    for item in reply?.array?.last?.array ?? [] {
      guard let parts = item.array, parts.count == 3, let entry = parts[0].string, let count = parts[1].integer else { continue }
      guard let message = lease(entryID: entry, fields: parts[2], deliveryCount: count, of: shard) else {
        await bury(UnreadableEntry(entryID: entry, fields: parts[2]), deliveryCount: count, of: shard)
        continue
      }
      guard count > deliveries.configuration.maxDeliveries else {
        taken.append(message)
        continue
      }
      // Each time the process died: it is given up, under the lease that was just taken.
      let error = "its worker ended \(count - 1) times without finishing it"
      guard (try? await deliveries.deadLetter(message, error: error)) != nil else { continue }
      logDead(message.deliveryID, error)
    }
    return (taken, reply?.array?.first?.integer)
  }

  /// What is to be done now and again beside the work, until its task is cancelled. It begins when a worker that was started has
  /// come to what waited for it, and not at one moment where many were started.
  func keepHouse() async {
    do { try await Task.sleep(for: deliveries.configuration.housekeepingDelay * Double.random(in: 0.2...1)) } catch { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.forgetTheDead() }
      group.addTask { await DeadLetterBound(queue: self.queue, deliveries: self.deliveries).run() }
    }
  }

  /// Takes the names of workers that died out of the groups, now and again until its task is cancelled.
  func forgetTheDead(after idle: Duration = .seconds(86_400)) async {
    while !Task.isCancelled {
      for shard in Shard.all where !Task.isCancelled {
        _ = try? await deliveries.run(
          Scripts.forget, [Keys.ready(queue, shard)], [.string(DeliveryQueue.group), .integer(idle.milliseconds)])
      }
      do { try await Task.sleep(for: .seconds(3600) * Double.random(in: 0.8...1.2)) } catch { return }
    }
  }

  /// Takes the name out of the groups where it holds nothing: deleting a consumer drops what it still holds.
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
