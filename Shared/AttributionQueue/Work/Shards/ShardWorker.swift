import EventLoops
import Logging
import RedisClient
import Synchronization

/// A worker that owns shards of a queue. It reads the ready streams of its shards, calls the handler for each message and settles the
/// outcomes. Messages of a shard are handled in order, shards concurrently. An announcement of accept.lua, which may contain the message,
/// wakes a shard.
///
/// A message stays in the stream until it is settled, and is removed in the step that publishes its event. If a worker sends no heartbeat
/// for ``QueueConfiguration/workerTimeout``, the next owner of its shards handles what is left in their streams; a late step of the former
/// owner changes nothing. If the reply to a step is lost, the worker takes the shard again, and repeats the step only if its messages are
/// still in the stream. While workers of older builds run (``StoreForm/leased``), the worker leases the messages of its shards, because
/// these workers read the same streams.
///
/// ``run()`` starts all tasks. Read next: `ShardWorker+Rebalancing.swift` (which shards the worker owns), `ShardWorker+Work.swift` (the
/// work of a shard), `ShardWorker+Reading.swift`, and `ShardWorker+Recovery.swift` (after crashes and lost replies).
///
///     let worker = ShardWorker(queue: .intake, deliveries: deliveries, pace: .computing) { message in
///       .complete(Completion(state: .verified, naturalKey: key(of: message), events: [event(for: message)]))
///     }
///     await worker.run()
public final class ShardWorker: Sendable {
  /// Whether the handler computes or waits, which decides how messages are settled and where the handler runs.
  public enum Pace: Sendable {
    /// The handler only computes, briefly, and defers work that waits for other systems (``WorkOutcome/deferred(atMost:while:)``). It may
    /// be called again for the same message, so several messages of a shard are settled in one step.
    case computing
    /// The handler waits for other systems. Each message is settled on its own, so that a crash repeats the calls for one message only. At
    /// most this many shards are worked at the same time.
    case waiting(shards: Int)

    /// The maximum number of messages of a shard that are read and settled together.
    var batchSize: Int {
      switch self {
      case .computing: 32
      case .waiting: 1
      }
    }
  }

  /// The maximum number of messages of a shard that are settled together.
  static let maxBatchSize = Pace.computing.batchSize
  /// The number of messages of an event loop at which reading stops, if they were read and wait for the handler.
  private static let maxWaitingMessages = 768
  /// The maximum interval between heartbeats.
  static let maxHeartbeatInterval: Duration = .seconds(1)
  /// How often all own shards are read without an announcement, because announcements are lost while a connection is down.
  static let readInterval: Duration = .seconds(10)
  /// The same interval while subscriptions are missing.
  static let readIntervalWithoutSubscriptions: Duration = .milliseconds(200)
  /// How long to wait before trying again to take a shard that another worker is releasing.
  static let retryInterval: Duration = .milliseconds(50)

  let queue: QueueName
  let pace: Pace
  let deliveries: DeliveryQueue
  let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  let batchHandler: BatchHandler?
  let settlement: Settlement
  let consumer: QueueConsumer
  /// True if the worker has leased messages and is therefore a consumer of the groups.
  let hasLeased = Mutex(false)
  let shards = Shard.all.map { WorkerShard($0) }
  let pauseFlag: PauseFlagCache
  let membership = Mutex(Membership())
  /// Shards whose last request got no reply: it is not known whether Redis lists this worker as owner.
  let uncertain = Mutex<Set<Shard>>([])
  /// When the worker last handled a message or began a round of ``rebalance(_:_:)``.
  let lastProgress = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  let wakeSignal = WakeSignal()
  let deferred: DeferredWork

  /// An event loop and the shards that are worked on it. Handlers run on the event loop that has the Redis connections, so that no task
  /// changes threads.
  final class WorkerLoop: Sendable {
    /// Nil for ``Pace/waiting(shards:)``: such handlers run on the default executor.
    let executor: EventLoopExecutor?
    /// Lets the connections of the event loop run between its tasks. Nil without an executor, or if its pipe could not be opened: then the
    /// connections wait until all ready tasks have run.
    let slices: LoopSlices?
    let backpressure = ReadBackpressure(limit: ShardWorker.maxWaitingMessages)
    /// Limits how many shards are worked at a time.
    let slots: WorkSlots
    /// Shards that were woken and whose work is to begin.
    let woken: AsyncStream<WorkerShard>
    let wokenInput: AsyncStream<WorkerShard>.Continuation
    /// Settles plain batches by transactions. Nil for ``Pace/waiting(shards:)``.
    let group: GroupCommit?

    init(_ executor: EventLoopExecutor?, shards: Int, group: GroupCommit? = nil) async {
      self.executor = executor
      self.group = group
      slots = WorkSlots(shards)
      slices = if let executor { try? await LoopSlices.open(executor.loop) } else { nil }
      (woken, wokenInput) = AsyncStream<WorkerShard>.makeStream()
    }
  }

  /// Decides the outcomes of several messages of a shard in one call, where that takes less time than one call for each.
  public struct BatchHandler: Sendable {
    let accepts: @Sendable (LeasedMessage) -> Bool
    let outcomes: @Sendable ([LeasedMessage]) -> [WorkOutcome]

    /// - Parameters:
    ///   - accepts: true if the message may be handled with others: its handler only computes, and neither depends on the outcomes of
    ///     earlier messages nor changes those of later ones.
    ///   - outcomes: returns the outcomes of messages that follow one another, in their order: exactly one for each, and none is
    ///     ``WorkOutcome/inOrder(_:)``.
    public init(
      accepts: @escaping @Sendable (LeasedMessage) -> Bool, outcomes: @escaping @Sendable ([LeasedMessage]) -> [WorkOutcome]
    ) {
      self.accepts = accepts
      self.outcomes = outcomes
    }
  }

  /// - Parameters:
  ///   - batchHandler: handles two or more messages that follow one another, and that it accepts, in one call. `handler` handles all other
  ///     messages. It also handles those whose trace is recorded, those on which a worker may have crashed, and those that are left when
  ///     the worker stops.
  ///   - handler: decides the outcome of a message. It is called again if the outcome could not be settled.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, pace: Pace, counter: DeliveryCounter? = nil, batchHandler: BatchHandler? = nil,
    observe: @escaping @Sendable (WorkObservation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.pace = pace
    self.deliveries = deliveries
    self.handler = handler
    self.batchHandler = batchHandler
    deferred = DeferredWork(queue, deliveries)
    settlement = Settlement(queue: queue, deliveries: deliveries, observe: observe, deferred: deferred, counter: counter)
    consumer = QueueConsumer(queue: queue, deliveries: deliveries)
    pauseFlag = PauseFlagCache(queue: queue, deliveries: deliveries)
  }

  /// True if the worker has made no progress for more than 90 seconds.
  public var isStalled: Bool { lastProgress.withLock { $0 }.duration(to: .now) > .seconds(90) }

  /// Stops reading messages. The messages that are being handled are settled, then the shards are released.
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
        if shard.wake(announcement: announcement) { loop.wokenInput.yield(shard) }
      }
    }
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: ShardSchedule.maxSleep + .seconds(10)))
    await withTaskGroup(of: Void.self) { background in
      background.addTask { await poller.run() }
      background.addTask { await QueueHousekeeping(queue: self.queue, deliveries: self.deliveries).run() }
      background.addTask { await self.sendHeartbeats() }
      background.addTask { await self.deferred.run() }
      background.addTask { await self.renewLeases() }
      for subscriptions in subscriptions { background.addTask { await subscriptions.run() } }
      await withTaskGroup(of: Void.self) { work in
        for loop in loops { work.addTask(executorPreference: loop.executor) { await self.work(loop) } }
        await rebalance(loops, subscriptions)
        for loop in loops { loop.wokenInput.finish() }
      }
      background.cancelAll()
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
}
