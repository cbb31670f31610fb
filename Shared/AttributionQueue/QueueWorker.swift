import EventLoops
import Logging
import RedisClient
import Synchronization

/// Works a queue: leases messages, gives them to a handler, completes, retries or gives up. Messages of one shard are worked in
/// order, shards side by side.
public final class QueueWorker: Sendable {
  /// What happened, for metrics.
  public enum Observation: Sendable {
    /// `seconds`: from the beginning of its work; `waitedSeconds`: from its receipt; both to the end of its work.
    case processed(outcome: String, seconds: Double, waitedSeconds: Double)
    case leaseLost
    case reclaimed(Int)
  }

  private let queue: QueueName
  private let deliveries: DeliveryQueue
  /// Each lane leases from shards of its own, and asks for more while what it has is being worked, as long as it has room.
  private let lanes: [Lane]
  private let concurrency: Int
  private let settlesTogether: Bool
  private let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  private let observe: @Sendable (Observation) -> Void
  private let consumer: QueueConsumer
  private let turned = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  private let held = HeldLeases()
  private let look: PauseLook
  /// How long a lane waits at Redis, in milliseconds: not all equally long, or those that have nothing to do come round at one moment.
  private static let blockTime: ClosedRange<Int64> = 700...1000
  /// How long it is waited for those of which messages wait here, while nothing is to be read of the others. Redis itself is not asked
  /// to wait so short a time: while nothing else comes it looks at its clock ten times a second.
  private static let backlogTime: Duration = .milliseconds(20)
  /// Messages of a shard leased at a time: more where they are settled together.
  private let leasedTogether: Int
  /// Messages that wait on an event loop before more are leased.
  private static let waiting = 768

  /// An event loop and what its lanes share: a judgement is made where its connections are, so that no task changes threads.
  private struct Place: Sendable {
    let executor: EventLoopExecutor
    /// None where the system had no pipe left: then connections wait for all that is ready.
    let slices: LoopSlices?
    let room = WaitingRoom(bound: QueueWorker.waiting)

    static func all() async -> [Place] {
      var places: [Place] = []
      for executor in EventLoopExecutor.all() {
        places.append(Place(executor: executor, slices: try? await LoopSlices.open(executor.loop)))
      }
      return places
    }
  }

  private struct Lane: Sendable {
    let shards: [Shard]
    /// For reads that block.
    let redis: RedisClient
    let work = ShardsAtWork()
    /// The commands that lease what is ready of all its shards: what is there, or what comes within the time that it waits at Redis.
    let readsAll: (atOnce: RedisWords, waiting: RedisWords)

    init(shards: [Shard], redis: RedisClient, most: Int, _ queue: QueueName, _ consumer: String) {
      self.shards = shards
      self.redis = redis
      let time = Duration.milliseconds(Int64.random(in: QueueWorker.blockTime))
      readsAll = (
        Self.read(shards, most: most, blocking: nil, queue, consumer), Self.read(shards, most: most, blocking: time, queue, consumer)
      )
    }

    /// The command that leases what is ready of some of the shards.
    static func read(_ shards: [Shard], most: Int, blocking time: Duration? = nil, _ queue: QueueName, _ consumer: String) -> RedisWords {
      var words = RedisWords(reserving: 160 + 40 * shards.count)
      words.append("XREADGROUP")
      words.append("GROUP")
      words.append(DeliveryQueue.group)
      words.append(consumer)
      words.append("COUNT")
      words.append(Int64(most))
      if let time {
        words.append("BLOCK")
        words.append(time.milliseconds)
      }
      words.append("STREAMS")
      for shard in shards { words.append(Keys.ready(queue, shard)) }
      for _ in shards { words.append(">") }
      return words
    }
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
    leasedTogether = settlesTogether ? 32 : 16
    self.handler = handler
    self.observe = observe
    consumer = QueueConsumer(queue: queue, deliveries: deliveries)
    look = PauseLook(queue: queue, deliveries: deliveries)
    self.lanes = (0..<max(1, lanes)).map { [leasedTogether, consumer] lane in
      let shards = Shard.all.filter { $0.index % max(1, lanes) == lane }
      let redis = deliveries.redis.dedicated(commandTimeout: .seconds(10), loop: lane)
      return Lane(shards: shards, redis: redis, most: leasedTogether, queue, consumer.name)
    }
  }

  /// Whether the worker has not come round for too long. While every place is taken by work that is slow, it comes round with what gets
  /// done.
  public var isStalled: Bool { lastTurn.duration(to: .now) > .seconds(90) }

  var lastTurn: ContinuousClock.Instant { turned.withLock { $0 } }

  /// Leases no more; what is being worked is finished.
  public func stop() { stopping.withLock { $0 = true } }

  /// Works until ``stop()`` is called or the task is cancelled.
  public func run() async {
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: ShardSchedule.longestSleep + .seconds(10)))
    let places = settlesTogether ? await Place.all() : []
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await poller.run() }
      group.addTask { await self.reclaimLoop() }
      group.addTask { await self.renewLoop() }
      group.addTask { await self.consumer.keepHouse() }
      await withTaskGroup(of: Void.self) { group in
        for (index, lane) in lanes.enumerated() {
          let place = places.isEmpty ? nil : places[index % places.count]
          group.addTask(executorPreference: place?.executor) { await self.leaseLoop(lane, place) }
        }
      }
      group.cancelAll()
      // Ends the poller's blocking read, which cancellation does not reach.
      poller.blocking.close()
    }
    for place in places { await place.slices?.close() }
    for lane in lanes { lane.redis.close() }
    // Entries are all acknowledged; the consumer's name must not pile up in the groups.
    await consumer.delete()
  }

  private var isStopping: Bool { Task.isCancelled || stopping.withLock { $0 } }

  private func leaseLoop(_ lane: Lane, _ place: Place?) async {
    var groupsExist = false
    let slots = WorkSlots(min(concurrency, lane.shards.count))
    // Whether there may be more than can be taken at a time.
    var isFull = true
    await withDiscardingTaskGroup { work in
      // One slot is had before anything is leased.
      await slots.take()
      while !isStopping {
        turned.withLock { $0 = .now }
        do {
          if !groupsExist {
            try await consumer.createGroups(lane.shards)
            groupsExist = true
          }
          guard try await !look.isPaused() else {
            try await Task.sleep(for: PauseLook.pause)
            continue
          }
          let reserved = isFull ? leasedTogether * lane.shards.count : 0
          if reserved > 0 { await place?.room.reserve(reserved) }
          guard !isStopping else {
            place?.room.leave(reserved)
            break
          }
          let leased: [LeasedEntries]
          do { leased = try await lease(lane, waits: !isFull) } catch {
            place?.room.leave(reserved)
            throw error
          }
          // Before any of them can be settled.
          for entries in leased { held.add(entries.ids.lazy.map { LeaseToken(entryID: $0, deliveryCount: 1) }, of: entries.shard) }
          let begun = leased.filter { lane.work.begins($0) }
          place?.room.enter(begun.reduce(0) { $0 + $1.count })
          place?.room.leave(reserved)
          isFull = leased.contains { $0.count == leasedTogether }
          if leased.isEmpty, !lane.work.backlogged.isEmpty { await lane.work.begun.wait(for: Self.backlogTime) }
          for entries in begun {
            work.addTask {
              // What waits for its slice of the loop's time still waits.
              await place?.slices?.pauseIfUsedUp()
              place?.room.leave(entries.count)
              await self.work(inOrder: entries, place?.slices)
              while let entries = lane.work.next(of: entries.shard) { await self.work(inOrder: entries, place?.slices) }
              slots.giveBack()
            }
            await slots.take()
          }
          // What is judged at once is settled at once, before more is asked for.
          if place != nil, !begun.isEmpty { await Task.yield() }
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
  }

  /// What is ready, by shard. `waits`: for a while, until something is.
  private func lease(_ lane: Lane, waits: Bool) async throws -> [LeasedEntries] {
    let backlogged = lane.work.backlogged
    let read =
      if backlogged.isEmpty {
        waits ? lane.readsAll.waiting : lane.readsAll.atOnce
      } else {
        // There is one at least: fewer are worked at once than there are.
        Lane.read(lane.shards.filter { !backlogged.contains($0) }, most: leasedTogether, queue, consumer.name)
      }
    let reply: RedisReply
    do { reply = try await lane.redis.send(read, name: "XREADGROUP") } catch { throw QueueError.unavailable(error) }
    return reply.elements.compactMap { LeasedEntries(stream: $0) }
  }

  private func renewLoop() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: deliveries.configuration.lease / 3) } catch { return }
      // One that is lost is noticed when its work is settled.
      await withDiscardingTaskGroup { group in
        for (shard, lease) in held.all {
          group.addTask { try? await self.deliveries.renew(lease, of: shard, in: self.queue, consumer: self.consumer.name) }
        }
      }
    }
  }

  /// Works entries of one shard one after the other.
  private func work(inOrder entries: LeasedEntries, _ slices: LoopSlices?) async {
    let (held, shard) = (held, entries.shard)
    // What is none is not to be renewed: its lease runs out where it does not become a dead letter.
    let messages = entries.messages(consumer) { held.remove([LeaseToken(entryID: $0, deliveryCount: 1)], of: shard) }
    await work(inOrder: messages, many: entries.count, slices)
  }

  /// Works messages of one shard one after the other.
  ///
  /// - Parameter many: how many there may be.
  private func work(inOrder messages: some Sequence<LeasedMessage>, many: Int, _ slices: LoopSlices? = nil) async {
    // What was completed and is to be settled together.
    var together: CompletionCall?
    // The clock is read once a message: where nothing is waited for, the end of one's work is the beginning of the next one's.
    var started = ContinuousClock.now
    for message in messages {
      if isStopping {
        try? await deliveries.release(message)
        held.remove([message.token], of: message.shard)
        continue
      }
      if await slices?.pauseIfUsedUp() == true { started = .now }
      let outcome = await handler(message)
      let ended = ContinuousClock.now
      turned.withLock { $0 = ended }
      if case .complete(let completion) = outcome {
        if settlesTogether {
          if together == nil { together = deliveries.completionCall(of: message, many: many) }
          together?.add(message, completion, started: started, now: DeliveryQueue.now)
          // The event loop has others to serve.
          if let slices {
            slices.use(started.duration(to: ended))
            started = ended
          } else {
            await Task.yield()
            started = .now
          }
          continue
        }
        await settle(message, completion, started: started)
      } else {
        await settle(message, outcome, started: started)
      }
      started = .now
    }
    if let together { await settle(together) }
  }

  /// Settles what the handler decided, other than completing it.
  private func settle(_ lease: LeasedMessage, _ outcome: WorkOutcome, started: ContinuousClock.Instant) async {
    if case .complete(let completion) = outcome {
      return await settle(lease, completion, started: started)
    }
    await persist { () throws(QueueError) in
      do throws(QueueError) {
        processed(try await deliveries.settle(lease, outcome), lease, started, Moment())
      } catch .leaseLost {
        observe(.leaseLost)
      }
    }
    held.remove([lease.token], of: lease.shard)
  }

  private func settle(_ lease: LeasedMessage, _ completion: Completion, started: ContinuousClock.Instant) async {
    var call = deliveries.completionCall(of: lease)
    call.add(lease, completion, started: started, now: DeliveryQueue.now)
    await settle(call)
  }

  /// Completes messages of one shard in one step.
  private func settle(_ call: CompletionCall) async {
    var seen: [(CompletedWork, WorkOutcome)] = []
    await persist { () throws(QueueError) in
      let outcomes = try await deliveries.complete(call)
      let end = Moment()
      for (place, outcome) in outcomes.enumerated() {
        switch outcome {
        case .completed: processed(call.works[place].word, call.works[place].lease, call.works[place].started, end)
        case .naturalKeySeen: processed("duplicate", call.works[place].lease, call.works[place].started, end)
        case .held: if let whenSeen = call.works[place].whenSeen { seen.append((call.works[place], await whenSeen())) }
        case nil: observe(.leaseLost)
        }
      }
    }
    // What a handler makes of a message that was counted before is settled in a step of its own.
    for (work, outcome) in seen { await settle(work.lease, outcome, started: work.started) }
    if let shard = call.works.first?.lease.shard { held.remove(call.works.lazy.map(\.lease.token), of: shard) }
  }

  /// A moment by both clocks.
  private struct Moment {
    let instant = ContinuousClock.now
    let wall = DeliveryQueue.now
  }

  private func processed(_ outcome: String, _ lease: LeasedMessage, _ started: ContinuousClock.Instant, _ end: Moment) {
    observe(
      .processed(
        outcome: outcome, seconds: started.duration(to: end.instant) / .seconds(1),
        waitedSeconds: Double(end.wall - lease.message.receivedAt) / 1000))
  }

  /// What a handler decided must not be lost to a short absence of Redis. It is tried for the length of a lease, which is renewed
  /// up to then.
  private func persist(_ step: () async throws(QueueError) -> Void) async {
    let started = ContinuousClock.now
    for attempt in 0...50 {
      do throws(QueueError) { return try await step() } catch {
        if attempt == 50 || started.duration(to: .now) > deliveries.configuration.lease { return }
        do { try await Task.sleep(for: .milliseconds(.random(in: 50...500))) } catch { return }
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
        let taken = Dictionary(grouping: taken, by: \.shard)
        for (shard, messages) in taken { held.add(messages.lazy.map(\.token), of: shard) }
        await withDiscardingTaskGroup { group in
          for messages in taken.values { group.addTask { await self.work(inOrder: messages, many: messages.count) } }
        }
      }
      do { try await Task.sleep(for: min(lease / 2, .seconds(5))) } catch { return }
    }
  }
}
