import Cryptography
import Logging
import RedisClient
import Synchronization

/// Works a queue: leases messages, gives them to a handler, completes, retries or gives up. Messages of one shard are worked in
/// order, shards side by side.
public final class QueueWorker: Sendable {
  /// What happened, for metrics.
  public enum Observation: Sendable {
    case processed(outcome: String, seconds: Double, waitedSeconds: Double)
    case leaseLost
    case reclaimed(Int)
  }

  private let queue: QueueName
  private let deliveries: DeliveryQueue
  private let concurrency: Int
  private let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  private let observe: @Sendable (Observation) -> Void
  private let consumer: String
  private let blocking: RedisClient
  private let lastTurn = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  private let blockTime: Duration = .milliseconds(1000)

  /// `concurrency`: shards worked side by side. The handler must end well inside the queue's lease, which is renewed for it.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, concurrency: Int = 32,
    observe: @escaping @Sendable (Observation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.deliveries = deliveries
    self.concurrency = concurrency
    self.handler = handler
    self.observe = observe
    consumer = RandomBytes.uuid()
    blocking = deliveries.redis.dedicated(commandTimeout: .seconds(10))
  }

  /// Whether the worker has not come round for too long.
  public var isStalled: Bool { lastTurn.withLock { $0.duration(to: .now) } > .seconds(90) }

  /// Leases no more; what is being worked is finished.
  public func stop() { stopping.withLock { $0 = true } }

  /// Works until ``stop()`` is called or the task is cancelled.
  public func run() async {
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: .seconds(15)))
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await poller.run() }
      group.addTask { await self.reclaimLoop() }
      await self.leaseLoop()
      group.cancelAll()
      // Ends the poller's blocking read, which cancellation does not reach.
      poller.blocking.close()
    }
    blocking.close()
    // Entries are all acknowledged; the consumer's name must not pile up in the groups.
    await deleteConsumer()
  }

  private var isStopping: Bool { Task.isCancelled || stopping.withLock { $0 } }

  private func leaseLoop() async {
    var groupsExist = false
    while !isStopping {
      lastTurn.withLock { $0 = .now }
      do {
        if !groupsExist {
          try await createGroups()
          groupsExist = true
        }
        if try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer == 1 {
          try await Task.sleep(for: .milliseconds(250))
          continue
        }
        await work(try await lease())
      } catch QueueError.unavailable(.refused(let text)) where text.hasPrefix("NOGROUP") {
        groupsExist = false
      } catch is CancellationError {
        return
      } catch {
        groupsExist = false
        try? await Task.sleep(for: .milliseconds(.random(in: 50...500)))
      }
    }
  }

  private func lease() async throws -> [LeasedMessage] {
    var words: [RedisArgument] = [
      "XREADGROUP", "GROUP", .string(DeliveryQueue.group), .string(consumer), "COUNT", "8", "BLOCK",
      .integer(blockTime.milliseconds),
      "STREAMS",
    ]
    words += Shard.all.map { .string(Keys.ready(queue, $0)) }
    words += Shard.all.map { _ in ">" }
    let reply: RedisReply
    do { reply = try await blocking.send(words) } catch { throw QueueError.unavailable(error) }
    var messages: [LeasedMessage] = []
    for stream in reply.array ?? [] {
      for entry in stream.array?.last?.array ?? [] {
        guard let parts = entry.array, parts.count == 2, let id = parts[0].string, let fields = parts[1].array else {
          continue
        }
        if let message = leased(entryID: id, fields: fields, deliveryCount: 1) { messages.append(message) }
      }
    }
    return messages
  }

  private func leased(entryID: String, fields: [RedisReply], deliveryCount: Int64) -> LeasedMessage? {
    var values: [String: RedisReply] = [:]
    for index in stride(from: 0, to: fields.count - 1, by: 2) { values[fields[index].string ?? ""] = fields[index + 1] }
    guard let id = values["i"]?.string.flatMap(DeliveryID.init), let kind = values["k"]?.string,
      let body = values["b"]?.bytes,
      let message = QueueMessage(kind: kind, body: body, envelope: values["a"]?.bytes ?? [])
    else {
      deliveries.logger.error(
        "a queue entry cannot be read", metadata: ["queue": "\(queue.rawValue)", "entry": "\(entryID)"])
      return nil
    }
    let before = Int(values["n"]?.integer ?? 0)
    return LeasedMessage(
      queue: queue, deliveryID: id, message: message, attempt: before + Int(deliveryCount),
      history: values["h"]?.string ?? "",
      entryID: entryID, deliveryCount: deliveryCount, consumer: consumer)
  }

  /// Works a batch: the messages of a shard one after the other, up to `concurrency` shards at once.
  private func work(_ messages: [LeasedMessage]) async {
    guard !messages.isEmpty else { return }
    var byShard: [Shard: [LeasedMessage]] = [:]
    for message in messages { byShard[message.shard, default: []].append(message) }
    await withDiscardingTaskGroup { outer in
      let held = HeldLeases(messages)
      outer.addTask { await self.renewLoop(held) }
      await withTaskGroup(of: Void.self) { group in
        var running = 0
        for messages in byShard.values {
          if running >= concurrency { await group.next() } else { running += 1 }
          group.addTask {
            for message in messages {
              if self.isStopping { try? await self.deliveries.release(message) } else { await self.work(message) }
              held.remove(message)
            }
          }
        }
      }
      outer.cancelAll()
    }
  }

  private func renewLoop(_ held: HeldLeases) async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: deliveries.configuration.lease / 3) } catch { return }
      // One that is lost is noticed when its work is settled.
      for lease in held.all { try? await deliveries.renew(lease) }
    }
  }

  private func work(_ lease: LeasedMessage) async {
    let started = ContinuousClock.now
    let waited = Double(DeliveryQueue.now - lease.message.receivedAt) / 1000
    let outcome = await handler(lease)
    // What the handler decided must not be lost to a short absence of Redis; the lease bounds how long it is tried.
    for attempt in 0... {
      do {
        let word = try await settle(lease, outcome)
        observe(.processed(outcome: word, seconds: started.duration(to: .now) / .seconds(1), waitedSeconds: waited))
        return
      } catch QueueError.leaseLost {
        observe(.leaseLost)
        return
      } catch {
        if attempt > 50 || started.duration(to: .now) > deliveries.configuration.lease { return }
        do { try await Task.sleep(for: .milliseconds(.random(in: 50...500))) } catch { return }
      }
    }
  }

  private func settle(_ lease: LeasedMessage, _ outcome: WorkOutcome) async throws -> String {
    switch outcome {
    case .complete(let completion):
      return try await deliveries.complete(lease, completion) == .completed ? completion.state.rawValue : "duplicate"
    case .retry(let delay, let error):
      if lease.attempt >= deliveries.configuration.maxAttempts, delay == nil {
        try await deliveries.deadLetter(lease, error: error)
        return "dead"
      }
      try await deliveries.retry(lease, after: delay ?? backoff(lease.attempt), error: error)
      return "retried"
    case .deadLetter(let error):
      try await deliveries.deadLetter(lease, error: error)
      return "dead"
    }
  }

  private func backoff(_ attempt: Int) -> Duration {
    let most = min(deliveries.configuration.backoffCap, deliveries.configuration.backoffBase * (1 << min(attempt, 20)))
    return most * Double.random(in: 0...1)
  }

  /// Takes over what workers that died have left.
  private func reclaimLoop() async {
    let lease = deliveries.configuration.lease
    while !Task.isCancelled {
      var taken: [LeasedMessage] = []
      for shard in Shard.all where !isStopping {
        let reply = try? await deliveries.run(
          Scripts.reclaim, [Keys.ready(queue, shard), Keys.dead(queue, shard)],
          [
            .string(DeliveryQueue.group), .string(consumer), .integer(lease.milliseconds), 16,
            .integer(Int64(deliveries.configuration.maxDeliveries)), .integer(DeliveryQueue.now),
          ])
        for item in reply?.array ?? [] {
          guard let parts = item.array, parts.count == 3, let entry = parts[0].string, let count = parts[1].integer
          else { continue }
          if let fields = parts[2].array, let message = leased(entryID: entry, fields: fields, deliveryCount: count) {
            taken.append(message)
          } else if let dead = parts[2].string.flatMap(DeliveryID.init) {
            deliveries.logger.error(
              "a message became a dead letter", metadata: ["queue": "\(queue.rawValue)", "delivery": "\(dead)"])
            _ = try? await deliveries.send(["HSET", .string(Keys.delivery(dead)), "state", "dead"])
            // The record may have run out meanwhile: one made anew must not stay for ever.
            _ = try? await deliveries.send([
              "EXPIRE", .string(Keys.delivery(dead)), .integer(deliveries.configuration.deliveryRecordTTL.wholeSeconds),
            ])
          }
        }
      }
      if !taken.isEmpty {
        observe(.reclaimed(taken.count))
        await work(taken)
      }
      do { try await Task.sleep(for: min(lease / 2, .seconds(5))) } catch { return }
    }
  }

  private func createGroups() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for shard in Shard.all {
        group.addTask { [queue, deliveries] in
          let reply = try await deliveries.redis.sendAllowingErrors(
            ["XGROUP", "CREATE", .string(Keys.ready(queue, shard)), .string(DeliveryQueue.group), "0", "MKSTREAM"])
          if case .error(let text) = reply, !text.hasPrefix("BUSYGROUP") {
            throw QueueError.unavailable(.refused(text))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func deleteConsumer() async {
    await withTaskGroup(of: Void.self) { group in
      for shard in Shard.all {
        group.addTask { [queue, deliveries, consumer] in
          let stream = Keys.ready(queue, shard)
          // Deleting a consumer drops what it still holds: only an empty one may go.
          let pending = try? await deliveries.send([
            "XPENDING", .string(stream), .string(DeliveryQueue.group), "-", "+", "1", .string(consumer),
          ])
          guard pending?.array?.isEmpty == true else { return }
          _ = try? await deliveries.send([
            "XGROUP", "DELCONSUMER", .string(stream), .string(DeliveryQueue.group), .string(consumer),
          ])
        }
      }
    }
  }
}
