import EventLoops
import Logging
import RedisClient
import Synchronization

/// A worker that owns shards of a queue: the owner of a shard reads its stream, calls the handler and settles the results. Messages of a
/// shard are worked in order, shards concurrently. If a worker loses a shard, unsettled messages are handled again by the next owner. In
/// ``StoreForm/leased`` it leases the messages of its shards, and shares them with workers of older builds.
public final class ShardWorker: Sendable {
  /// The kind of work that a handler does.
  public enum Pace: Sendable {
    /// The handler only computes, briefly, and defers work that waits for other systems. It may be called again for the same message, so
    /// several messages of a shard are settled in one step.
    case computing
    /// The handler waits for other systems. Each message is settled on its own, and at most this many shards are worked at the same time.
    case waiting(shards: Int)

    /// The maximum number of messages of a shard that are read and settled together.
    var together: Int {
      switch self {
      case .computing: 32
      case .waiting: 1
      }
    }
  }

  /// The maximum number of messages of a shard that are settled together.
  static let settledTogether = Pace.computing.together
  /// The number of waiting messages per event loop at which reading stops.
  private static let waitingMessages = 768
  /// The maximum interval between heartbeats.
  static let maxBeat: Duration = .seconds(1)
  /// How often all own shards are read without a notification, because a notification is lost while the connection is down.
  static let readInterval: Duration = .seconds(10)
  /// The same interval while subscriptions are missing.
  static let readIntervalWithoutSubscriptions: Duration = .milliseconds(200)
  /// How long to wait before asking again for a shard that another worker is releasing.
  static let handOver: Duration = .milliseconds(50)

  let queue: QueueName
  let pace: Pace
  let deliveries: DeliveryQueue
  let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  let joint: JointHandler?
  let settlement: Settlement
  let consumer: QueueConsumer
  /// True if it has leased messages and is therefore a member of consumer groups.
  let hasLeased = Mutex(false)
  let shards = Shard.all.map { WorkerShard($0) }
  private let pauseFlag: PauseFlagCache
  let membership = Mutex(Membership())
  /// Shards whose last request got no reply: it is not known whether Redis lists this worker as owner.
  let uncertain = Mutex<Set<Shard>>([])
  let turned = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  let wakeSignal = WakeSignal()
  let deferred: DeferredWork

  /// An event loop and the shards that are worked on it. Handlers run on the loop that owns the Redis connections, so that no task changes
  /// threads.
  final class WorkerLoop: Sendable {
    /// Nil for handlers that wait for other systems: these run on the default executor.
    let executor: EventLoopExecutor?
    /// Lets the loop's connections run between its tasks. Nil without an executor, or if no pipe could be opened: then connections wait
    /// until all ready tasks have run.
    let slices: LoopSlices?
    let backpressure = ReadBackpressure(bound: ShardWorker.waitingMessages)
    /// Limits how many shards are worked at a time.
    let slots: WorkSlots
    /// Shards whose work is to begin.
    let begun: AsyncStream<WorkerShard>
    let begins: AsyncStream<WorkerShard>.Continuation
    /// Settles plain batches by transactions. Nil where each message is settled on its own.
    let group: GroupCommit?

    init(_ executor: EventLoopExecutor?, shards: Int, group: GroupCommit? = nil) async {
      self.executor = executor
      self.group = group
      slots = WorkSlots(shards)
      slices = if let executor { try? await LoopSlices.open(executor.loop) } else { nil }
      (begun, begins) = AsyncStream<WorkerShard>.makeStream()
    }
  }

  /// Decides the outcomes of several messages of a shard in one call, where that takes less time than one call for each.
  public struct JointHandler: Sendable {
    let accepts: @Sendable (LeasedMessage) -> Bool
    let outcomes: @Sendable ([LeasedMessage]) -> [WorkOutcome]

    /// - Parameters:
    ///   - accepts: true if the message may be handled with others: its handler only computes, and neither depends on the outcomes of
    ///     earlier messages nor changes those of later ones.
    ///   - outcomes: the outcomes of messages that follow one another, in their order; exactly one for each, and none is
    ///     ``WorkOutcome/inOrder(_:)``.
    public init(
      accepts: @escaping @Sendable (LeasedMessage) -> Bool, outcomes: @escaping @Sendable ([LeasedMessage]) -> [WorkOutcome]
    ) {
      self.accepts = accepts
      self.outcomes = outcomes
    }
  }

  /// - Parameters:
  ///   - joint: handles messages that follow one another together, in place of `handler`. A message is handled alone nevertheless if its
  ///     trace is recorded, or if a worker may have crashed on it.
  ///   - handler: decides the outcome of a message. It is called again if the outcome could not be settled.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, pace: Pace, counter: DeliveryCounter? = nil, joint: JointHandler? = nil,
    observe: @escaping @Sendable (WorkObservation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.pace = pace
    self.deliveries = deliveries
    self.handler = handler
    self.joint = joint
    deferred = DeferredWork(queue, deliveries)
    settlement = Settlement(queue: queue, deliveries: deliveries, observe: observe, deferred: deferred, counter: counter)
    consumer = QueueConsumer(queue: queue, deliveries: deliveries)
    pauseFlag = PauseFlagCache(queue: queue, deliveries: deliveries)
  }

  /// True if the worker has not completed a round for more than 90 seconds.
  public var isStalled: Bool { turned.withLock { $0 }.duration(to: .now) > .seconds(90) }

  /// Stops taking messages. Messages that are being worked are settled, then the shards are released.
  public func stop() {
    stopping.withLock { $0 = true }
    wakeSignal.wake()
  }

  /// The worker's name among those of its queue.
  var name: String { consumer.name }

  /// The number of owned shards.
  public var owned: Int { shards.count { $0.ownership != nil } }

  var isStopping: Bool { Task.isCancelled || stopping.withLock { $0 } }

  /// Works until ``stop()`` is called or the task is cancelled.
  public func run() async {
    var loops: [WorkerLoop] = []
    switch pace {
    case .computing:
      for (number, executor) in EventLoopExecutor.all().enumerated() {
        let group = GroupCommit(deliveries, executor, number: number)
        loops.append(await WorkerLoop(executor, shards: Shard.count, group: group))
      }
    case .waiting(let shards): loops.append(await WorkerLoop(nil, shards: shards))
    }
    let subscriptions = loops.enumerated().map { index, loop in
      ShardSubscriptions(queue, deliveries, loop: index) { [shards] shard, announcement in
        let shard = shards[shard.index]
        if shard.wake(announcement: announcement) { loop.begins.yield(shard) }
      }
    }
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: ShardSchedule.maxSleep + .seconds(10)))
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
      // Closing the connections ends the poller's blocking read and requests in flight, which cancellation does not reach.
      poller.blocking.close()
      for subscriptions in subscriptions { subscriptions.close() }
    }
    await releaseAll()
    for loop in loops {
      loop.group?.close()
      await loop.slices?.close()
    }
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

  /// Entries of a shard that were read and not worked yet.
  struct Read {
    let entries: RedisReply.Elements
    /// True if it is the announcement of a message, which may have been settled since.
    let isAnnounced: Bool

    init(_ entries: RedisReply) {
      // Detached from the buffer of the whole reply.
      self.entries = entries.detached.elements
      isAnnounced = false
    }

    /// Reads an announcement of accept.lua; nil if it does not hold a message.
    init?(announcement: [UInt8]) {
      guard !announcement.isEmpty, let entries = RedisReply(parsing: announcement)?.elements, entries.underestimatedCount == 1 else {
        return nil
      }
      self.entries = entries
      isAnnounced = true
    }

    var count: Int { entries.underestimatedCount }

    /// The id of the first entry; nil if it cannot be read.
    var firstID: EntryID? { entries.first { _ in true }?.elements.first { _ in true }?.string.flatMap(EntryID.init) }

    /// The leases of the entries, in ``StoreForm/leased``.
    var leases: [LeaseToken] {
      entries.compactMap { entry in
        var parts = entry.elements
        guard let id = parts.nextString() else { return nil }
        parts.skip()
        return LeaseToken(entryID: id, deliveryCount: parts.nextInteger() ?? 1)
      }
    }
  }

  /// Works a shard until its stream is empty or other shards wait for a slot. Returns true if there may be more messages.
  private func work(_ shard: WorkerShard, _ loop: WorkerLoop) async -> Bool {
    let beginning = EntryID(milliseconds: 0, number: 0)
    var last = beginning
    var read: Read?
    while let ownership = shard.ownership {
      // Leased messages must be worked or given back before the worker may stop or pause.
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
        if let known = read.take() {
          next = known
        } else if let announced = announced(shard, ownership, loop) {
          next = announced
        } else {
          next = try await readNext(shard, ownership, behind: last, loop)
        }
        guard next.count > 0 else {
          guard shard.becomesIdle() else { continue }
          await finishRelease(shard)
          return false
        }
        // The messages count as waiting until their time slice begins.
        await loop.slices?.pauseIfUsedUp()
        loop.backpressure.release(next.count)
        let batch = try await handle(next, shard, ownership, loop)
        guard !batch.isEmpty else { continue }
        do {
          if next.isAnnounced {
            let left = try await settlement.commitAnnounced(batch, ownership, group: loop.group)
            if left != nil { shard.settledUntil = batch.position }
            read = left == 0 ? Read(.null) : nil
            last = beginning
          } else {
            read = try await settle(batch, shard, ownership, loop, readsOn: next.count == Self.settledTogether)
            last = batch.position
            shard.settledUntil = batch.position
          }
        } catch QueueError.unavailable {
          read = try await settleAgain(batch, shard, ownership, loop)
          last = read == nil ? beginning : batch.position
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

  /// The message that was announced since the shard was read, if it has one.
  private func announced(_ shard: WorkerShard, _ ownership: ShardOwnership, _ loop: WorkerLoop) -> Read? {
    guard let announcement = shard.takeAnnouncement(), ownership.form == .owned, loop.group?.isBusy != true,
      let read = Read(announcement: announcement),
      // A message that was read before its announcement came is settled already.
      let id = read.firstID, id > shard.settledUntil, loop.backpressure.reserveAtOnce(read.count)
    else { return nil }
    return read
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

  /// Leases the next messages: first those with an expired lease, then new ones.
  private func lease(_ shard: WorkerShard) async throws -> Read {
    hasLeased.withLock { $0 = true }
    let (limit, asked) = (pace.together, ContinuousClock.now)
    var read = Read(.null)
    if asked >= shard.nextReclaim {
      let (entries, leased) = try await consumer.reclaim(shard.shard, limit: limit)
      read = Read(entries)
      // If nothing is leased, no lease can expire before one lease duration has passed.
      let lease = deliveries.configuration.lease
      if read.count < limit { shard.nextReclaim = asked + (leased == 0 ? lease : min(lease / 2, .seconds(5))) }
      if read.count > 0 { settlement.observe(.reclaimed(read.count)) }
    }
    if read.count == 0 { read = Read(try await consumer.lease(shard.shard, limit: limit)) }
    shard.leases = read.leases
    return read
  }
}
