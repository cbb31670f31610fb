import EventLoops
import RedisClient
import Synchronization

/// A worker for queues whose messages have deadlines: messages with the nearest deadlines over all shards are processed first.
///
/// Messages wait in a sorted set of their shard. The worker leases them in the order of their deadlines (take.lua), as many as the gate
/// admits and the concurrency allows. If a worker ends without settling a message, another one reclaims it when the lease expires. Retries,
/// dead letters and completion are the same as in every queue (``Settlement``). Messages that are processed at the same time have no order
/// among them.
///
/// ``run()`` repeats one round: query the shards that have changed, choose messages with ``DeadlineIndex``, lease them, and start a task
/// for each.
public final class DeadlineWorker: Sendable {
  /// How often every shard is queried while messages wait, because other workers may have leased messages that this worker still lists.
  static let sweepInterval: Duration = .seconds(5)
  /// How often every shard is queried in any case, because a process that crashed after an accept may not have written to the schedule.
  static let fullScanInterval: Duration = .seconds(60)
  /// The maximum time before the gate is queried again.
  private static let maxWait: Duration = .seconds(1)
  /// How many deadlines of a shard one query returns.
  private static let listedDeadlines: RedisArgument = 16
  /// How many due delayed messages of a shard one query moves to the set by deadline.
  private static let movedMessages: RedisArgument = 200

  struct State {
    var index = DeadlineIndex()
    /// The messages that are leased and not settled.
    var leased: [ObjectIdentifier: LeasedMessage] = [:]
    var isStopping = false
    /// When the last round began.
    var lastRound = ContinuousClock.now
  }

  let queue: QueueName
  let deliveries: DeliveryQueue
  private let concurrency: Int
  private let gate: any WorkGate
  let settlement: Settlement
  private let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  let consumer: QueueConsumer
  let schedule: ShardSchedule
  /// A client of its own for blocking reads.
  let blocking: RedisClient
  let state = Mutex(State())
  let wakeSignal = WakeSignal()

  /// - Parameters:
  ///   - concurrency: the maximum number of messages that are processed at once.
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

  /// True if the worker has not begun a round for more than 90 seconds.
  public var isStalled: Bool { state.withLock { $0.lastRound.duration(to: .now) > .seconds(90) } }

  /// The number of waiting messages that this worker knows of, and the nearest deadline among them, milliseconds since 1970.
  public var backlog: (waiting: Int, nearestDeadline: Int64?) { state.withLock { ($0.index.waiting, $0.index.nearest) } }

  /// The number of messages that are being processed.
  public var inFlight: Int { state.withLock(\.leased.count) }

  /// Stops leasing messages. The handlers that are running end, and their outcomes are settled.
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
      group.addTask { await self.watchSchedule() }
      group.addTask { await self.sweep() }
      group.addTask { await self.renew() }
      group.addTask { await QueueHousekeeping(queue: self.queue, deliveries: self.deliveries).run() }
      await withDiscardingTaskGroup { work in
        work.addTask { await self.dispatch() }
        work.addTask { await self.reclaimExpired() }
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
        state.withLock { $0.lastRound = .now }
        do {
          if !groupsExist {
            try await consumer.createGroups(Shard.all)
            groupsExist = true
          }
          guard try await !pauseFlag.isPaused() else {
            await wakeSignal.wait(for: PauseFlagCache.checkInterval)
            continue
          }
          let (messages, wait) = try await leaseNext()
          for message in messages { work.addTask { await self.work(message) } }
          if messages.isEmpty { await wakeSignal.wait(for: wait) }
        } catch {
          groupsExist = false
          await wakeSignal.wait(for: .milliseconds(.random(in: 50...500)))
        }
      }
    }
  }

  /// One round: queries changed shards, and leases the messages with the nearest deadlines, as far as the gate and the concurrency allow.
  /// Returns the messages, and how long to wait if there are none.
  private func leaseNext() async throws -> (messages: [LeasedMessage], wait: Duration) {
    let now = DeliveryQueue.now
    var messages: [LeasedMessage] = []
    let stale = state.withLock(\.index.stale)
    if !stale.isEmpty { messages = try await take(Dictionary(uniqueKeysWithValues: stale.map { ($0, 0) }), until: 0) }
    let (free, waiting, overdue) = state.withLock { state in
      (concurrency - state.leased.count, state.index.waiting, state.index.overdue(now: now))
    }
    guard free > 0, waiting > 0 else { return (messages, Self.maxWait) }
    // Messages past their deadline are finished without a call to the other system, so the gate need not admit them.
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
        // Other workers have leased the messages first. The index is up to date now, so messages are chosen again immediately.
        if taken.isEmpty { wait = .milliseconds(1) }
        messages += taken
      } catch {
        // Messages that were leased above must be processed although this query failed.
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
        // Messages that other tasks of the group have leased must be processed although this query failed.
        while let taken = await group.nextResult() { if case .success(let taken) = taken { messages += taken } }
        if messages.isEmpty { throw error }
      }
      state.withLock { state in for message in messages { state.leased[Self.key(message)] = message } }
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
          .string(DeliveryQueue.group), .string(consumer.name), .integer(Int64(count)), Self.movedMessages, Self.listedDeadlines,
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
      // More entries than were requested means that the ready stream has entries without a deadline, and it may have more of them.
      if entries.count > count { state.index.mark(index) }
    }
    // Only this process knows what is left in the shard, and it may crash. A new entry in the schedule makes some worker query the shard
    // again soon.
    if count == 0 {
      await queried(
        at: shard,
        next: DeadlineIndex.nextQuery(
          waiting: Int(waiting), nextDue: next < 0 ? nil : next, now: DeliveryQueue.now, every: Self.sweepInterval.milliseconds))
    }
    return await messages(values[0], of: shard)
  }

  /// The messages among leased entries. Unreadable entries become dead letters. If that fails, their leases expire, and the worker that
  /// reclaims the entries makes them dead letters.
  func messages(_ entries: RedisReply, of shard: Shard) async -> [LeasedMessage] {
    var batch = CommitBatch(queue, shard, expectedCount: 1, deliveries)
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

  /// Records in the schedule that the query of the shard has ended. If this fails, the schedule still has the entry of the query, so that a
  /// worker queries the shard again.
  private func queried(at shard: Shard, next: Int64?) async { try? await schedule.queried(at: shard, next: next) }

  // MARK: Working

  /// Calls the handler for a message and settles its decision.
  func work(_ message: LeasedMessage) async {
    let started = ContinuousClock.now
    let outcome = isStopping ? .giveBack : await message.traced { await self.handler(message) }
    await settle(message, outcome, started: started)
    state.withLock { state in
      state.leased[Self.key(message)] = nil
      if case .giveBack = outcome { state.index.mark(message.shard.index) }
    }
    wakeSignal.wake()
  }

  /// Settles the handler's decision. It is retried for up to two lease durations, so that a short outage of Redis does not lose the
  /// decision.
  private func settle(_ message: LeasedMessage, _ outcome: WorkOutcome, started: ContinuousClock.Instant) async {
    var batch = CommitBatch(queue, message.shard, expectedCount: 1, deliveries)
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

  /// Identifies a lease. If this worker reclaims a message from itself, the new lease is another object.
  static func key(_ message: LeasedMessage) -> ObjectIdentifier { ObjectIdentifier(message) }
}
