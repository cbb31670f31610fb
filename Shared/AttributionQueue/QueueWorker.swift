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
  /// Each lane leases from shards of its own and asks for more when all it has is settled: a slow message holds up no other lane.
  private let lanes: [Lane]
  private let concurrency: Int
  private let settlesTogether: Bool
  private let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  private let observe: @Sendable (Observation) -> Void
  private let consumer: QueueConsumer
  private let lastTurn = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  private let blockTime: Duration = .milliseconds(1000)

  private struct Lane: Sendable {
    let shards: [Shard]
    /// For reads that block.
    let redis: RedisClient
  }

  /// `settlesTogether`: whether the messages of a shard that were leased together are settled together, when the last of them is
  /// worked: for handlers that take no longer than a judgement and whose work may be repeated. Otherwise each is settled at once.
  /// `concurrency`: shards of a lane worked side by side. The handler must end well inside the queue's lease, which is renewed for
  /// it.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, settlesTogether: Bool = false, lanes: Int = 8, concurrency: Int = 32,
    observe: @escaping @Sendable (Observation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.deliveries = deliveries
    self.concurrency = concurrency
    self.settlesTogether = settlesTogether
    self.handler = handler
    self.observe = observe
    consumer = QueueConsumer(queue: queue, deliveries: deliveries)
    self.lanes = (0..<max(1, lanes)).map { lane in
      Lane(
        shards: Shard.all.filter { $0.index % max(1, lanes) == lane },
        redis: deliveries.redis.dedicated(commandTimeout: .seconds(10)))
    }
  }

  /// Whether the worker has not come round for too long.
  public var isStalled: Bool { lastTurn.withLock { $0.duration(to: .now) } > .seconds(90) }

  /// Leases no more; what is being worked is finished.
  public func stop() { stopping.withLock { $0 = true } }

  /// Works until ``stop()`` is called or the task is cancelled.
  public func run() async {
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: ShardSchedule.longestSleep + .seconds(10)))
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await poller.run() }
      group.addTask { await self.reclaimLoop() }
      group.addTask { await DeadLetterBound(queue: self.queue, deliveries: self.deliveries).run() }
      await withTaskGroup(of: Void.self) { group in
        for lane in lanes { group.addTask { await self.leaseLoop(lane) } }
      }
      group.cancelAll()
      // Ends the poller's blocking read, which cancellation does not reach.
      poller.blocking.close()
    }
    for lane in lanes { lane.redis.close() }
    // Entries are all acknowledged; the consumer's name must not pile up in the groups.
    await consumer.delete()
  }

  private var isStopping: Bool { Task.isCancelled || stopping.withLock { $0 } }

  private func leaseLoop(_ lane: Lane) async {
    var groupsExist = false
    var look = PauseLook(queue: queue, deliveries: deliveries)
    while !isStopping {
      lastTurn.withLock { $0 = .now }
      do {
        if !groupsExist {
          try await consumer.createGroups(lane.shards)
          groupsExist = true
        }
        guard try await !look.isPaused() else {
          try await Task.sleep(for: PauseLook.pause)
          continue
        }
        await work(try await lease(lane))
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

  private func lease(_ lane: Lane) async throws -> [LeasedMessage] {
    var words: [RedisArgument] = [
      "XREADGROUP", "GROUP", .string(DeliveryQueue.group), .string(consumer.name), "COUNT", "16", "BLOCK",
      .integer(blockTime.milliseconds),
      "STREAMS",
    ]
    words += lane.shards.map { .string(Keys.ready(queue, $0)) }
    words += lane.shards.map { _ in ">" }
    let reply: RedisReply
    do { reply = try await lane.redis.send(words) } catch { throw QueueError.unavailable(error) }
    var messages: [LeasedMessage] = []
    for stream in reply.array ?? [] {
      for entry in stream.array?.last?.array ?? [] {
        guard let parts = entry.array, parts.count == 2, let id = parts[0].string else { continue }
        if let message = consumer.lease(entryID: id, fields: parts[1], deliveryCount: 1) { messages.append(message) }
      }
    }
    return messages
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
          group.addTask { await self.work(inOrder: messages, held) }
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

  /// A message that its handler is done with.
  private struct Worked {
    let lease: LeasedMessage
    let outcome: WorkOutcome
    let started: ContinuousClock.Instant
    let waited: Double
  }

  /// Works messages of one shard one after the other.
  private func work(inOrder messages: [LeasedMessage], _ held: HeldLeases) async {
    var complete: [Worked] = []
    for message in messages {
      if isStopping {
        try? await deliveries.release(message)
        held.remove(message)
        continue
      }
      let started = ContinuousClock.now
      let waited = Double(DeliveryQueue.now - message.message.receivedAt) / 1000
      let worked = Worked(lease: message, outcome: await handler(message), started: started, waited: waited)
      if settlesTogether, case .complete = worked.outcome { complete.append(worked) } else { await settle([worked], held) }
    }
    await settle(complete, held)
  }

  /// Settles what the handler decided, which must not be lost to a short absence of Redis; the lease bounds how long it is tried.
  private func settle(_ worked: [Worked], _ held: HeldLeases) async {
    guard let first = worked.first else { return }
    var seen: [Worked] = []
    for attempt in 0... {
      do {
        let words = try await settle(worked)
        for (worked, word) in zip(worked, words) {
          switch word {
          case .done(let word):
            observe(
              .processed(outcome: word, seconds: worked.started.duration(to: .now) / .seconds(1), waitedSeconds: worked.waited))
          case .leaseLost: observe(.leaseLost)
          case .held(let whenSeen):
            seen.append(Worked(lease: worked.lease, outcome: await whenSeen(), started: worked.started, waited: worked.waited))
            continue
          }
          held.remove(worked.lease)
        }
        break
      } catch {
        if attempt > 50 || first.started.duration(to: .now) > deliveries.configuration.lease { break }
        do { try await Task.sleep(for: .milliseconds(.random(in: 50...500))) } catch { break }
      }
    }
    // What a handler makes of a message that was counted before is settled in a step of its own.
    for worked in seen { await settle([worked], held) }
    for worked in worked where !seen.contains(where: { $0.lease.entryID == worked.lease.entryID }) { held.remove(worked.lease) }
  }

  private enum Settled {
    case done(String)
    case leaseLost
    case held(@Sendable () async -> WorkOutcome)
  }

  /// Throws when Redis does not answer. Several are all complete.
  private func settle(_ worked: [Worked]) async throws(QueueError) -> [Settled] {
    var settled: [(lease: LeasedMessage, completion: Completion)] = []
    for worked in worked {
      switch worked.outcome {
      case .complete(let completion): settled.append((worked.lease, completion))
      case .retry, .deadLetter, .giveBack:
        do throws(QueueError) { return [.done(try await deliveries.settle(worked.lease, worked.outcome))] } catch .leaseLost {
          return [.leaseLost]
        }
      }
    }
    return zip(settled, try await deliveries.complete(settled)).map { settled, outcome in
      switch outcome {
      case .completed: .done(settled.completion.word ?? settled.completion.state.rawValue)
      case .naturalKeySeen: .done("duplicate")
      case .held: settled.completion.whenSeen.map { .held($0) } ?? .done("duplicate")
      case nil: .leaseLost
      }
    }
  }

  /// Takes over what workers that died have left.
  private func reclaimLoop() async {
    let lease = deliveries.configuration.lease
    // Where nothing was leased no lease can run out before the length of one.
    var quiet: [Shard: ContinuousClock.Instant] = [:]
    while !Task.isCancelled {
      var taken: [LeasedMessage] = []
      // What lies under a lease that ran out waits like all else while the queue is paused.
      let rests = (try? await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer) != 0
      for shard in Shard.all where !isStopping && !rests && quiet[shard].map({ $0.duration(to: .now) >= lease }) ?? true {
        let asked = ContinuousClock.now
        let (messages, leased) = await consumer.reclaim(shard)
        quiet[shard] = leased == 0 ? asked : nil
        taken += messages
      }
      if !taken.isEmpty {
        observe(.reclaimed(taken.count))
        await work(taken)
      }
      do { try await Task.sleep(for: min(lease / 2, .seconds(5))) } catch { return }
    }
  }
}
