import EventLoops
import RedisClient
import Synchronization

/// A worker for queues whose messages have deadlines: messages with the nearest deadlines over all shards are processed first.
///
/// Messages wait in a sorted set of their shard. The worker leases them in the order of their deadlines, as many as the gate admits and the
/// concurrency allows. Leases, retries, dead letters and completion are the same as in every queue, so another worker reclaims the messages
/// of one that dies. Messages that are worked at the same time have no order among them.
public final class DeadlineWorker: Sendable {
  /// How often every shard is queried while messages wait, because other workers may have taken messages that are known here.
  static let sweepTime: Duration = .seconds(5)
  /// How often every shard is queried in any case, because a process that crashes after an accept may not have written to the schedule.
  static let fullScan: Duration = .seconds(60)
  /// The maximum time before the gate is queried again.
  private static let maxWait: Duration = .seconds(1)
  /// How many deadlines of a shard one query returns.
  private static let lookAhead: RedisArgument = 16
  /// How many due messages of a shard one query moves.
  private static let promotion: RedisArgument = 200

  struct State {
    var index = DeadlineIndex()
    /// Leases that are not settled.
    var held: [ObjectIdentifier: LeasedMessage] = [:]
    var isStopping = false
    var lastTurn = ContinuousClock.now
  }

  let queue: QueueName
  let deliveries: DeliveryQueue
  private let concurrency: Int
  private let gate: any WorkGate
  let settlement: Settlement
  private let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  let consumer: QueueConsumer
  let schedule: ShardSchedule
  let blocking: RedisClient
  let state = Mutex(State())
  let wakeSignal = WakeSignal()

  /// - Parameters:
  ///   - concurrency: the maximum number of messages that are worked at once.
  ///   - handler: should end well within the queue's lease, although the lease is renewed. It gives back messages that it cannot process
  ///     now.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, concurrency: Int, gate: any WorkGate, counter: DeliveryCounter? = nil,
    observe: @escaping @Sendable (WorkObservation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.deliveries = deliveries
    self.concurrency = max(1, concurrency)
    self.gate = gate
    settlement = Settlement(queue: queue, deliveries: deliveries, observe: observe, counter: counter)
    self.handler = handler
    consumer = QueueConsumer(queue: queue, deliveries: deliveries)
    schedule = deliveries.schedule(queue)
    blocking = deliveries.redis.dedicated(commandTimeout: ShardSchedule.maxSleep + .seconds(10))
  }

  /// True if the worker has not completed a round for more than 90 seconds.
  public var isStalled: Bool { state.withLock { $0.lastTurn.duration(to: .now) > .seconds(90) } }

  /// The number of waiting messages that this worker knows of, and the nearest deadline among them, milliseconds since 1970.
  public var backlog: (waiting: Int, nearestDeadline: Int64?) { state.withLock { ($0.index.waiting, $0.index.nearest) } }

  /// The number of messages that are being worked.
  public var inFlight: Int { state.withLock(\.held.count) }

  /// Stops taking messages; messages that are being worked are finished.
  public func stop() {
    state.withLock { $0.isStopping = true }
    wakeSignal.wake()
  }

  /// Works until ``stop()`` is called or the task is cancelled. All tasks run on one event loop, because their steps are short and mostly
  /// wait for Redis.
  public func run() async {
    await withTaskExecutorPreference(EventLoopExecutor.all().randomElement()) { await work() }
  }

  private func work() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.hear() }
      group.addTask { await self.sweep() }
      group.addTask { await self.renew() }
      group.addTask { await QueueHousekeeping(queue: self.queue, deliveries: self.deliveries).run() }
      await withDiscardingTaskGroup { work in
        work.addTask { await self.dispatch() }
        work.addTask { await self.takeOver() }
      }
      group.cancelAll()
      // Closing the connection ends the blocking read, which cancellation does not reach.
      blocking.close()
    }
    await consumer.delete()
  }

  var isStopping: Bool { Task.isCancelled || state.withLock(\.isStopping) }

  // MARK: Choosing

  private func dispatch() async {
    var groupsExist = false
    let pauseFlag = PauseFlagCache(queue: queue, deliveries: deliveries)
    await withDiscardingTaskGroup { work in
      while !isStopping {
        state.withLock { $0.lastTurn = .now }
        do {
          if !groupsExist {
            try await consumer.createGroups(Shard.all)
            groupsExist = true
          }
          guard try await !pauseFlag.isPaused() else {
            await wakeSignal.wait(for: PauseFlagCache.pause)
            continue
          }
          let (messages, wait) = try await turn()
          for message in messages { work.addTask { await self.work(message) } }
          if messages.isEmpty { await wakeSignal.wait(for: wait) }
        } catch {
          groupsExist = false
          await wakeSignal.wait(for: .milliseconds(.random(in: 50...500)))
        }
      }
    }
  }

  /// Queries changed shards and leases the messages with the nearest deadlines, as far as the concurrency allows. Returns them and how long
  /// to wait if there are none.
  private func turn() async throws -> (messages: [LeasedMessage], wait: Duration) {
    let now = DeliveryQueue.now
    var messages: [LeasedMessage] = []
    let stale = state.withLock(\.index.stale)
    if !stale.isEmpty { messages = try await take(Dictionary(uniqueKeysWithValues: stale.map { ($0, 0) }), until: 0) }
    let (free, waiting, overdue) = state.withLock { state in
      (concurrency - state.held.count, state.index.waiting, state.index.overdue(now: now))
    }
    guard free > 0, waiting > 0 else { return (messages, Self.maxWait) }
    // Messages past their deadline are finished without calling anyone, so they need no admission.
    var limit = min(overdue, free)
    var wait = Self.maxWait
    if waiting > limit, free > limit {
      switch await gate.admit(min(free, waiting) - limit) {
      case .some(let admitted): limit += admitted
      case .wait(let time): wait = min(max(time, .milliseconds(1)), Self.maxWait)
      }
    }
    if limit > 0 {
      let (counts, latest) = state.withLock { $0.index.nearest(limit) }
      do {
        let taken = try await take(counts, until: latest)
        // Another worker took the messages first. The index is up to date now, so messages are chosen again immediately.
        if taken.isEmpty { wait = .milliseconds(1) }
        messages += taken
      } catch {
        // Messages that were leased above must be worked although this query failed.
        if messages.isEmpty { throw error }
      }
    }
    return (messages, wait)
  }

  /// Leases the given number of messages of each shard, none with a deadline after `latest`, and updates the index.
  private func take(_ counts: [Int: Int], until latest: Int64) async throws -> [LeasedMessage] {
    try await withThrowingTaskGroup(of: [LeasedMessage].self) { group in
      for (shard, count) in counts { group.addTask { try await self.take(count, of: shard, until: latest) } }
      var messages: [LeasedMessage] = []
      do {
        while let taken = try await group.next() { messages += taken }
      } catch {
        // Messages that other tasks of the group have leased must be worked although this query failed.
        while let taken = await group.nextResult() { if case .success(let taken) = taken { messages += taken } }
        if messages.isEmpty { throw error }
      }
      state.withLock { state in for message in messages { state.held[Self.key(message)] = message } }
      return messages
    }
  }

  private func take(_ count: Int, of index: Int, until latest: Int64) async throws -> [LeasedMessage] {
    let shard = Shard(index)
    // The shard is marked as queried before the query is sent, so that a change during the query makes it stale again.
    state.withLock { $0.index.beginQuery(index) }
    let reply: RedisReply
    do {
      reply = try await deliveries.run(
        Scripts.take,
        [Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.byDeadline(queue, shard)],
        [
          .string(DeliveryQueue.group), .string(consumer.name), .integer(Int64(count)), Self.promotion, Self.lookAhead,
          .integer(latest),
        ])
    } catch {
      state.withLock { $0.index.mark(index) }
      throw error
    }
    guard let values = reply.array, values.count == 4, let entries = values[0].array, let next = values[1].integer,
      let waiting = values[2].integer
    else { throw QueueError.unavailable(.unexpectedReply("take")) }
    let coming = (values[3].array ?? []).compactMap(\.integer)
    state.withLock { state in
      state.index.update(index, coming: coming, waiting: Int(waiting))
      // The stream may hold more entries that have no deadline.
      if entries.count > count { state.index.mark(index) }
    }
    // Only this process knows what is left in the shard, and it may crash. The schedule makes some worker query the shard again soon.
    if count == 0 {
      await queried(
        at: shard,
        next: DeadlineIndex.nextQuery(
          waiting: Int(waiting), nextDue: next < 0 ? nil : next, now: DeliveryQueue.now, every: Self.sweepTime.milliseconds))
    }
    return await messages(values[0], of: shard)
  }

  /// The messages among leased entries. Unreadable entries become dead letters. If that fails, their lease expires and the worker that
  /// reclaims them makes them dead letters.
  func messages(_ entries: RedisReply, of shard: Shard) async -> [LeasedMessage] {
    var batch = CommitBatch(queue, shard, many: 1, deliveries)
    var messages: [LeasedMessage] = []
    for entry in entries.elements {
      var parts = entry.elements
      guard let id = parts.nextString(), let fields = parts.next() else { continue }
      let message = settlement.message(id, fields, begun: parts.nextInteger() ?? 1, consumer: consumer.name, in: &batch)
      if let message { messages.append(message) }
    }
    if !batch.isEmpty { _ = try? await settlement.commit(batch, as: .consumer(consumer.name)) }
    return messages
  }

  /// If this fails, the schedule still holds the shard as being queried, so that a worker queries it again.
  private func queried(at shard: Shard, next: Int64?) async { try? await schedule.queried(at: shard, next: next) }

  // MARK: Working

  func work(_ message: LeasedMessage) async {
    let started = ContinuousClock.now
    let outcome = isStopping ? .giveBack : await message.traced { await self.handler(message) }
    await settle(message, outcome, started: started)
    state.withLock { state in
      state.held[Self.key(message)] = nil
      if case .giveBack = outcome { state.index.mark(message.shard.index) }
    }
    wakeSignal.wake()
  }

  /// Settles the handler's decision. A short outage of Redis must not lose it, so it is retried for up to two lease durations.
  private func settle(_ message: LeasedMessage, _ outcome: WorkOutcome, started: ContinuousClock.Instant) async {
    var batch = CommitBatch(queue, message.shard, many: 1, deliveries)
    await settlement.add(message, outcome, to: &batch, started: started)
    while true {
      do throws(QueueError) {
        try await settlement.commit(batch, as: .consumer(consumer.name))
        return
      } catch {
        guard started.duration(to: .now) < deliveries.configuration.lease * 2 else { return }
        do { try await Task.sleep(for: .milliseconds(.random(in: 50...500))) } catch { return }
      }
    }
  }

  /// Identifies a lease. A message that this worker reclaimed from itself is another object and so another lease.
  static func key(_ message: LeasedMessage) -> ObjectIdentifier { ObjectIdentifier(message) }
}
