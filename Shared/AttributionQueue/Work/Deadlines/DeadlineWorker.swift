import EventLoops
import RedisClient
import Synchronization

/// Works a queue whose messages have deadlines: of all that wait, in whatever shard, those nearest their end go first.
///
/// Messages wait in a sorted set of their shard and are leased from it in the order of their deadlines, as many as the gate admits and
/// as there is room for. Leases, retries, dead letters and completion are those of every queue, so a worker that dies leaves its
/// messages to the next. There is no order among messages that are worked at the same time.
public final class DeadlineWorker: Sendable {
  /// While something waits, how often every shard is looked at: others may have taken of what is known here, and know of more.
  static let sweepTime: Duration = .seconds(5)
  /// How often every shard is looked at in any case: what is accepted by a process that ends at once may not have been noted.
  static let wholeLook: Duration = .seconds(60)
  /// The longest wait before the gate is asked again.
  private static let longestWait: Duration = .seconds(1)
  /// Deadlines of a shard that are known ahead.
  private static let lookAhead: RedisArgument = 16
  /// Due messages of a shard moved at once.
  private static let promotion: RedisArgument = 200

  struct State {
    var index = DeadlineIndex()
    /// Leases that are not settled, by delivery and entry.
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
  ///   - concurrency: messages worked at once.
  ///   - handler: must end well inside the queue's lease, which is renewed for it. It gives back what it cannot work now.
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
    blocking = deliveries.redis.dedicated(commandTimeout: ShardSchedule.longestSleep + .seconds(10))
  }

  /// Whether the worker has not come round for too long.
  public var isStalled: Bool { state.withLock { $0.lastTurn.duration(to: .now) > .seconds(90) } }

  /// Messages that wait to be taken, as far as this worker knows, and the nearest deadline among them, milliseconds since 1970.
  public var backlog: (waiting: Int, nearestDeadline: Int64?) { state.withLock { ($0.index.waiting, $0.index.nearest) } }

  /// Messages that are worked at the moment.
  public var inFlight: Int { state.withLock(\.held.count) }

  /// Takes no more; what is being worked is finished.
  public func stop() {
    state.withLock { $0.isStopping = true }
    wakeSignal.wake()
  }

  /// Works until ``stop()`` is called or the task is cancelled. On one event loop: the steps are short and mostly wait for Redis.
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
      // Ends the blocking read, which cancellation does not reach.
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

  /// Looks where something is new, and leases what is nearest its end as far as there is room; how long to wait when that is nothing.
  private func turn() async throws -> (messages: [LeasedMessage], wait: Duration) {
    let now = DeliveryQueue.now
    var messages: [LeasedMessage] = []
    let stale = state.withLock(\.index.stale)
    if !stale.isEmpty { messages = try await take(Dictionary(uniqueKeysWithValues: stale.map { ($0, 0) }), until: 0) }
    let (free, waiting, overdue) = state.withLock { state in
      (concurrency - state.held.count, state.index.waiting, state.index.overdue(now: now))
    }
    guard free > 0, waiting > 0 else { return (messages, Self.longestWait) }
    // What is past its end is no work for anyone and needs nobody's leave.
    var most = min(overdue, free)
    var wait = Self.longestWait
    if waiting > most, free > most {
      switch await gate.admit(min(free, waiting) - most) {
      case .some(let admitted): most += admitted
      case .wait(let time): wait = min(max(time, .milliseconds(1)), Self.longestWait)
      }
    }
    if most > 0 {
      let (counts, latest) = state.withLock { $0.index.nearest(most) }
      do {
        let taken = try await take(counts, until: latest)
        // Another worker was there before: what is there now is known now.
        if taken.isEmpty { wait = .milliseconds(1) }
        messages += taken
      } catch {
        // What was leased above must be worked all the same.
        if messages.isEmpty { throw error }
      }
    }
    return (messages, wait)
  }

  /// Takes so many messages of each shard, none with a later deadline, and notes what else is there.
  private func take(_ counts: [Int: Int], until latest: Int64) async throws -> [LeasedMessage] {
    try await withThrowingTaskGroup(of: [LeasedMessage].self) { group in
      for (shard, count) in counts { group.addTask { try await self.take(count, of: shard, until: latest) } }
      var messages: [LeasedMessage] = []
      do {
        while let taken = try await group.next() { messages += taken }
      } catch {
        // What others of the group have leased must be worked all the same.
        while let taken = await group.nextResult() { if case .success(let taken) = taken { messages += taken } }
        if messages.isEmpty { throw error }
      }
      state.withLock { state in for message in messages { state.held[Self.key(message)] = message } }
      return messages
    }
  }

  private func take(_ count: Int, of index: Int, until latest: Int64) async throws -> [LeasedMessage] {
    let shard = Shard(index)
    // Before the question: what is told while it is under way makes the shard stale again.
    state.withLock { $0.index.look(index) }
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
      // There may be more of what stands in the stream by itself.
      if entries.count > count { state.index.mark(index) }
    }
    // What is left here is known to this process alone, which may die: it is looked at again soon.
    if count == 0 {
      await looked(
        at: shard,
        next: DeadlineIndex.nextLook(
          waiting: Int(waiting), nextDue: next < 0 ? nil : next, now: DeliveryQueue.now, every: Self.sweepTime.milliseconds))
    }
    return await messages(values[0], of: shard)
  }

  /// The messages among leased entries. The others become dead letters; where that fails their lease runs out, and who takes them over
  /// does it.
  func messages(_ entries: RedisReply, of shard: Shard) async -> [LeasedMessage] {
    var call = CommitBatch(queue, shard, many: 1, deliveries)
    var messages: [LeasedMessage] = []
    for entry in entries.elements {
      var parts = entry.elements
      guard let id = parts.nextString(), let fields = parts.next() else { continue }
      let message = settlement.message(id, fields, begun: parts.nextInteger() ?? 1, consumer: consumer.name, in: &call)
      if let message { messages.append(message) }
    }
    if !call.isEmpty { _ = try? await settlement.commit(call, as: .consumer(consumer.name)) }
    return messages
  }

  /// What cannot be noted stays noted as being looked at, so that somebody looks again.
  private func looked(at shard: Shard, next: Int64?) async { try? await schedule.looked(at: shard, next: next) }

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

  /// Settles what the handler decided, which must not be lost to a short absence of Redis; the lease bounds how long it is tried.
  private func settle(_ message: LeasedMessage, _ outcome: WorkOutcome, started: ContinuousClock.Instant) async {
    var call = CommitBatch(queue, message.shard, many: 1, deliveries)
    await settlement.add(message, outcome, to: &call, started: started)
    while true {
      do throws(QueueError) {
        try await settlement.commit(call, as: .consumer(consumer.name))
        return
      } catch {
        guard started.duration(to: .now) < deliveries.configuration.lease * 2 else { return }
        do { try await Task.sleep(for: .milliseconds(.random(in: 50...500))) } catch { return }
      }
    }
  }

  /// One object is one lease: a message that this worker took over from itself is another.
  static func key(_ message: LeasedMessage) -> ObjectIdentifier { ObjectIdentifier(message) }
}
