import EventLoops
import Logging
import RedisClient
import Synchronization

/// Works a queue by shards: workers share them out among themselves, and who owns a shard reads its stream and settles what it has
/// worked. Messages of one shard are worked in order, shards side by side. What a worker has judged and not settled when it loses a shard
/// is judged again. In ``StoreForm/leased`` it leases the messages of its shards, and shares them with workers of older builds.
public final class ShardWorker: Sendable {
  /// How a handler works.
  public enum Pace: Sendable {
    /// It takes no longer than a judgement, defers what waits for others, and its work may be repeated: some messages of a shard are settled
    /// in one step.
    case judging
    /// It waits for others: each message is settled at once, and so many shards are worked at a time.
    case waiting(shards: Int)

    var together: Int {
      switch self {
      case .judging: 32
      case .waiting: 1
      }
    }
  }

  /// The most messages of a shard that are settled together.
  static let settledTogether = Pace.judging.together
  /// Messages that wait on an event loop before more are read.
  private static let waitingMessages = 768
  /// How often a worker says that it is alive, at the least.
  static let longestBeat: Duration = .seconds(1)
  /// How often shards are looked at that nobody rang for: what was rung for while no connection stood is found then.
  static let look: Duration = .seconds(10)
  /// The same while subscriptions are missing.
  static let lookInstead: Duration = .milliseconds(200)
  /// How long another's shards that are to be had are waited for before they are asked for again.
  static let handOver: Duration = .milliseconds(50)

  let queue: QueueName
  let pace: Pace
  let deliveries: DeliveryQueue
  let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  let settlement: Settlement
  let consumer: QueueConsumer
  /// Whether it has leased messages, and so has a loop in the groups.
  let hasLeased = Mutex(false)
  let shards = Shard.all.map { WorkerShard($0) }
  private let pauseFlag: PauseFlagCache
  let membership = Mutex(Membership())
  /// Shards of which a step got no answer: whether Redis has them as this worker's is not known.
  let uncertain = Mutex<Set<Shard>>([])
  let turned = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  let wakeSignal = WakeSignal()
  let deferred: DeferredWork

  /// An event loop and its shards: a judgement is made where its connections are, so that no task changes threads.
  final class WorkerLoop: Sendable {
    /// None for handlers that wait: these are worked wherever there is a thread.
    let executor: EventLoopExecutor?
    /// None where the system had no pipe left: then connections wait for all that is ready.
    let slices: LoopSlices?
    let backpressure = ReadBackpressure(bound: ShardWorker.waitingMessages)
    /// Shards that may be worked at a time.
    let slots: WorkSlots
    /// Shards whose work begins.
    let begun: AsyncStream<WorkerShard>
    let begins: AsyncStream<WorkerShard>.Continuation

    init(_ executor: EventLoopExecutor?, shards: Int) async {
      self.executor = executor
      slots = WorkSlots(shards)
      slices = if let executor { try? await LoopSlices.open(executor.loop) } else { nil }
      (begun, begins) = AsyncStream<WorkerShard>.makeStream()
    }
  }

  /// - Parameter handler: decides what becomes of a message; called for it again where that could not be settled.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, pace: Pace, counter: DeliveryCounter? = nil,
    observe: @escaping @Sendable (WorkObservation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.pace = pace
    self.deliveries = deliveries
    self.handler = handler
    deferred = DeferredWork(queue, deliveries)
    settlement = Settlement(queue: queue, deliveries: deliveries, observe: observe, deferred: deferred, counter: counter)
    consumer = QueueConsumer(queue: queue, deliveries: deliveries)
    pauseFlag = PauseFlagCache(queue: queue, deliveries: deliveries)
  }

  /// Whether the worker has not come round for too long.
  public var isStalled: Bool { turned.withLock { $0 }.duration(to: .now) > .seconds(90) }

  /// Begins no more; what is being worked is settled, and the shards are given back.
  public func stop() {
    stopping.withLock { $0 = true }
    wakeSignal.wake()
  }

  /// What the worker is called among those of its queue.
  var name: String { consumer.name }

  /// How many shards it owns.
  public var owned: Int { shards.count { $0.ownership != nil } }

  var isStopping: Bool { Task.isCancelled || stopping.withLock { $0 } }

  /// Works until ``stop()`` is called or the task is cancelled.
  public func run() async {
    var loops: [WorkerLoop] = []
    switch pace {
    case .judging: for executor in EventLoopExecutor.all() { loops.append(await WorkerLoop(executor, shards: Shard.count)) }
    case .waiting(let shards): loops.append(await WorkerLoop(nil, shards: shards))
    }
    let subscriptions = loops.enumerated().map { index, loop in
      ShardSubscriptions(queue, deliveries, loop: index) { [shards] shard in
        let shard = shards[shard.index]
        if shard.wake() { loop.begins.yield(shard) }
      }
    }
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: ShardSchedule.longestSleep + .seconds(10)))
    await withTaskGroup(of: Void.self) { beside in
      beside.addTask { await poller.run() }
      beside.addTask { await QueueHousekeeping(queue: self.queue, deliveries: self.deliveries).run() }
      beside.addTask { await self.sendHeartbeats() }
      beside.addTask { await self.deferred.run() }
      beside.addTask { await self.renewLeases() }
      for subscriptions in subscriptions { beside.addTask { await subscriptions.run() } }
      await withTaskGroup(of: Void.self) { work in
        for loop in loops { work.addTask(executorPreference: loop.executor) { await self.work(loop) } }
        await rebalance(loops, subscriptions)
        for loop in loops { loop.begins.finish() }
      }
      beside.cancelAll()
      // Ends the poller's blocking read and a question on the way, which cancellation does not reach.
      poller.blocking.close()
      for subscriptions in subscriptions { subscriptions.close() }
    }
    await releaseAll()
    for loop in loops { await loop.slices?.close() }
  }

  // MARK: Work

  private func work(_ loop: WorkerLoop) async {
    await withDiscardingTaskGroup { work in
      for await shard in loop.begun {
        await loop.slots.take()
        work.addTask {
          if await self.work(shard, loop) { self.wake(shard, loop) }
          loop.slots.giveBack()
        }
      }
    }
  }

  /// Entries of a shard that were read and are not worked yet.
  struct Read {
    let entries: RedisReply.Elements

    init(_ entries: RedisReply) {
      // Apart from what it was read with.
      self.entries = entries.detached.elements
    }

    var count: Int { entries.underestimatedCount }

    /// What is held of them where they are leased.
    var leases: [LeaseToken] {
      entries.compactMap { entry in
        var parts = entry.elements
        guard let id = parts.nextString() else { return nil }
        parts.skip()
        return LeaseToken(entryID: id, deliveryCount: parts.nextInteger() ?? 1)
      }
    }
  }

  /// Works a shard until nothing is there, or others wait for its loop; whether there may be more.
  private func work(_ shard: WorkerShard, _ loop: WorkerLoop) async -> Bool {
    let beginning = EntryID(milliseconds: 0, number: 0)
    var last = beginning
    var read: Read?
    while let ownership = shard.ownership {
      // What is leased is worked, or given back, whatever is to be done next.
      let owes = ownership.form == .leased && read != nil
      if !owes, isStopping || !shard.isWanted { break }
      do {
        if !owes {
          guard try await !pauseFlag.isPaused() else {
            if let unworked = read.take() { loop.backpressure.release(unworked.count) }
            last = beginning
            try await Task.sleep(for: PauseFlagCache.pause)
            continue
          }
          guard try await deliveries.form == ownership.form else {
            if let unworked = read.take() { loop.backpressure.release(unworked.count) }
            last = beginning
            await takeAgain(shard, ownership, isFailed: false)
            continue
          }
        }
        let next: Read
        if let known = read.take() { next = known } else { next = try await readNext(shard, ownership, behind: last, loop) }
        guard next.count > 0 else {
          guard shard.becomesIdle() else { continue }
          await finishRelease(shard)
          return false
        }
        // What waits for its slice of the loop's time still waits.
        await loop.slices?.pauseIfUsedUp()
        loop.backpressure.release(next.count)
        let call = try await judge(next, shard, ownership, loop)
        guard !call.isEmpty else { continue }
        do {
          read = try await settle(call, shard, ownership, loop, readsOn: next.count == Self.settledTogether)
          last = call.position
        } catch QueueError.unavailable {
          read = try await settleAgain(call, shard, ownership, loop)
          last = read == nil ? beginning : call.position
        }
        if loop.slots.isWanted, ownership.form == .owned || read == nil { break }
      } catch QueueError.leaseLost {
        lose(shard, ownership)
      } catch {
        if let unworked = read.take() { loop.backpressure.release(unworked.count) }
        last = beginning
        await takeAgain(shard, ownership)
      }
    }
    if let read { loop.backpressure.release(read.count) }
    shard.endWork()
    await finishRelease(shard)
    return !isStopping
  }

  private func finishRelease(_ shard: WorkerShard) async {
    if let ownership = shard.finishRelease() { await giveBack(ownership, shard.shard) }
  }

  private func readNext(_ shard: WorkerShard, _ ownership: ShardOwnership, behind last: EntryID, _ loop: WorkerLoop) async throws -> Read {
    await loop.backpressure.reserve(pace.together)
    do {
      let read: Read
      if ownership.form == .leased {
        read = try await lease(shard)
      } else {
        read = try await entries(of: shard.shard, behind: last)
      }
      loop.backpressure.release(pace.together - read.count)
      return read
    } catch {
      loop.backpressure.release(pace.together)
      throw error
    }
  }

  func entries(of shard: Shard, behind last: EntryID) async throws(QueueError) -> Read {
    Read(
      try await deliveries.send([
        "XRANGE", .string(Keys.ready(queue, shard)), .string("(" + last.text), "+", "COUNT", .integer(Int64(pace.together)),
      ]))
  }

  /// Leases what is next: what another's lease ran out of, or what is new.
  private func lease(_ shard: WorkerShard) async throws -> Read {
    hasLeased.withLock { $0 = true }
    let (most, asked) = (pace.together, ContinuousClock.now)
    var read = Read(.null)
    if asked >= shard.nextReclaim {
      let (entries, leased) = try await consumer.reclaim(shard.shard, most: most)
      read = Read(entries)
      // Where nothing is leased no lease can run out before the length of one.
      let lease = deliveries.configuration.lease
      if read.count < most { shard.nextReclaim = asked + (leased == 0 ? lease : min(lease / 2, .seconds(5))) }
      if read.count > 0 { settlement.observe(.reclaimed(read.count)) }
    }
    if read.count == 0 { read = Read(try await consumer.lease(shard.shard, most: most)) }
    shard.leases = read.leases
    return read
  }
}
