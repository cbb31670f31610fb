import EventLoops
import Logging
import RedisClient
import Synchronization

/// A worker that owns shards of a queue: the owner of a shard reads its stream, calls the handler and settles the results. Messages of a
/// shard are worked in order, shards concurrently. It is woken by an announcement of accept.lua, which may contain the message.
///
/// A message stays in the stream until it is settled, in the step that publishes its event. If a worker stops its heartbeats for
/// ``QueueConfiguration/workerTimeout``, the next owner of its shards handles what is left in their streams; a late step of the former owner
/// changes nothing. If the reply to a step is lost, the worker takes the shard again, and repeats the step only if its messages are still in
/// the stream. While workers of older builds run (``StoreForm/leased``), it leases the messages of its shards and shares them.
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
  let pauseFlag: PauseFlagCache
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
  ///   - joint: handles two or more messages that follow one another, and that it accepts, in one call. `handler` handles all others: also
  ///     those whose trace is recorded, on which a worker may have crashed, or which are left while the worker stops.
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
}
