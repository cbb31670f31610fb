import Cryptography
import EventLoops
import Logging
import RedisClient
import Synchronization

/// Works a queue by shards: workers share them out among themselves, and who owns a shard reads its stream and settles what it has
/// worked. Messages of one shard are worked in order, shards side by side. What a worker has judged and not settled when it loses a shard
/// is judged again.
public final class ShardWorker: Sendable {
  /// How a handler works.
  public enum Pace: Sendable {
    /// It takes no longer than a judgement, and its work may be repeated: some messages of a shard are settled in one step.
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
  private static let longestBeat: Duration = .seconds(1)
  /// How often shards are looked at that nobody rang for: what was rung for while no connection stood is found then.
  private static let look: Duration = .seconds(10)
  /// The same while subscriptions are missing.
  private static let lookInstead: Duration = .milliseconds(200)
  /// How long another's shards that are to be had are waited for before they are asked for again.
  private static let handOver: Duration = .milliseconds(50)

  private let queue: QueueName
  private let pace: Pace
  private let deliveries: DeliveryQueue
  private let handler: @Sendable (LeasedMessage) async -> WorkOutcome
  private let observe: @Sendable (WorkObservation) -> Void
  /// What the worker is called among those of its queue.
  let name = RandomBytes.uuid()
  private let shards = Shard.all.map { OwnedShard($0) }
  private let look: PauseLook
  private let life = Mutex(Life())
  /// Shards of which a step got no answer: whether Redis has them as this worker's is not known.
  private let unsure = Mutex<Set<Shard>>([])
  private let turned = Mutex<ContinuousClock.Instant>(.now)
  private let stopping = Mutex(false)
  private let bell = Bell()

  /// An event loop and its shards: a judgement is made where its connections are, so that no task changes threads.
  private final class Place: Sendable {
    /// None for handlers that wait: these are worked wherever there is a thread.
    let executor: EventLoopExecutor?
    /// None where the system had no pipe left: then connections wait for all that is ready.
    let slices: LoopSlices?
    let room = WaitingRoom(bound: ShardWorker.waitingMessages)
    /// Shards that may be worked at a time.
    let slots: WorkSlots
    /// Shards whose work begins.
    let begun: AsyncStream<OwnedShard>
    let begins: AsyncStream<OwnedShard>.Continuation

    init(_ executor: EventLoopExecutor?, shards: Int) async {
      self.executor = executor
      slots = WorkSlots(shards)
      slices = if let executor { try? await LoopSlices.open(executor.loop) } else { nil }
      (begun, begins) = AsyncStream<OwnedShard>.makeStream()
    }
  }

  /// - Parameter handler: decides what becomes of a message; called for it again where that could not be settled.
  public init(
    queue: QueueName, deliveries: DeliveryQueue, pace: Pace, observe: @escaping @Sendable (WorkObservation) -> Void = { _ in },
    handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome
  ) {
    self.queue = queue
    self.pace = pace
    self.deliveries = deliveries
    self.observe = observe
    self.handler = handler
    look = PauseLook(queue: queue, deliveries: deliveries)
  }

  /// Whether the worker has not come round for too long.
  public var isStalled: Bool { turned.withLock { $0 }.duration(to: .now) > .seconds(90) }

  /// Begins no more; what is being worked is settled, and the shards are given back.
  public func stop() {
    stopping.withLock { $0 = true }
    bell.ring()
  }

  /// How many shards it owns.
  public var owned: Int { shards.count { $0.ownership != nil } }

  private var isStopping: Bool { Task.isCancelled || stopping.withLock { $0 } }

  /// Works until ``stop()`` is called or the task is cancelled.
  public func run() async {
    var places: [Place] = []
    switch pace {
    case .judging: for executor in EventLoopExecutor.all() { places.append(await Place(executor, shards: Shard.count)) }
    case .waiting(let shards): places.append(await Place(nil, shards: shards))
    }
    let subscriptions = places.enumerated().map { index, place in
      ShardSubscriptions(queue, deliveries, loop: index) { [shards] shard in
        let shard = shards[shard.index]
        if shard.ring() { place.begins.yield(shard) }
      }
    }
    let poller = DelayedPoller(
      queue: queue, deliveries: deliveries, blocking: deliveries.redis.dedicated(commandTimeout: ShardSchedule.longestSleep + .seconds(10)))
    await withTaskGroup(of: Void.self) { beside in
      beside.addTask { await poller.run() }
      beside.addTask { await QueueHousekeeping(queue: self.queue, deliveries: self.deliveries).run() }
      beside.addTask { await self.keepAlive() }
      for subscriptions in subscriptions { beside.addTask { await subscriptions.run() } }
      await withTaskGroup(of: Void.self) { work in
        for place in places { work.addTask(executorPreference: place.executor) { await self.work(place) } }
        await shareOut(places, subscriptions)
        for place in places { place.begins.finish() }
      }
      beside.cancelAll()
      // Ends the poller's blocking read and a question on the way, which cancellation does not reach.
      poller.blocking.close()
      for subscriptions in subscriptions { subscriptions.close() }
    }
    await giveAllBack()
    for place in places { await place.slices?.close() }
  }

  // MARK: Which shards

  /// What the last answer to this worker's beat told.
  private struct Life {
    /// The workers that are alive.
    var alive: [String] = []
    var lastBeat = ContinuousClock.now
    /// When shards of workers that are not alive may be taken.
    var nextSuccession = ContinuousClock.now
  }

  /// Says that this worker is alive, again and again, whatever else it does.
  private func keepAlive() async {
    life.withLock { $0.lastBeat = .now }
    let timeout = deliveries.configuration.workerTimeout
    while !Task.isCancelled {
      if let alive = try? await workers(beating: name) {
        let (isOther, wasDead) = life.withLock { life in
          let wasDead = life.lastBeat.duration(to: .now) >= timeout
          // Where Redis was away for all, the others are alive and have not come to say so yet.
          if wasDead { life.nextSuccession = .now + timeout }
          defer { (life.alive, life.lastBeat) = (alive, .now) }
          return (life.alive != alive, wasDead)
        }
        if wasDead { await loseWhatIsLost() }
        if isOther { bell.ring() }
      }
      try? await Task.sleep(for: min(Self.longestBeat, timeout / 5))
    }
  }

  /// Gives back what is another's share and takes this worker's own, again and again until it is to stop.
  private func shareOut(_ places: [Place], _ subscriptions: [ShardSubscriptions]) async {
    var nextLook = ContinuousClock.now
    while !isStopping {
      turned.withLock { $0 = .now }
      let life = life.withLock { $0 }
      let share = ShardAssignment.shards(of: name, among: life.alive)
      await withDiscardingTaskGroup { group in
        for shard in shards where shard.ownership != nil && !share.contains(shard.shard) {
          subscriptions[shard.shard.index % subscriptions.count].forget(shard.shard)
          guard let ownership = shard.leave() else { continue }
          group.addTask { await self.giveBack(ownership, shard.shard) }
        }
        for shard in unsure.withLock({ $0 }) where !share.contains(shard) { group.addTask { await self.giveBackIfOwn(shard) } }
        for shard in share where shards[shard.index].ownership == nil {
          group.addTask {
            guard await self.take(shard, life) else { return }
            subscriptions[shard.index % subscriptions.count].want(shard)
            self.ring(shard, places)
          }
        }
      }
      if ContinuousClock.now >= nextLook {
        nextLook = .now + (subscriptions.allSatisfy(\.isWhole) ? Self.look : Self.lookInstead)
        for shard in share { ring(shard, places) }
      }
      let isWaiting = share.contains { shards[$0.index].ownership == nil } || unsure.withLock { !$0.isSubset(of: share) }
      await bell.wait(for: isWaiting ? Self.handOver : max(.milliseconds(1), ContinuousClock.now.duration(to: nextLook)))
    }
  }

  private func ring(_ shard: Shard, _ places: [Place]) { ring(shards[shard.index], places[shard.index % places.count]) }

  private func ring(_ shard: OwnedShard, _ place: Place) {
    if shard.ring() { place.begins.yield(shard) }
  }

  /// The workers that are alive. `beating`: one that says that it is.
  private func workers(beating worker: String) async throws(QueueError) -> [String] {
    let reply = try await deliveries.run(
      Scripts.beat, [Keys.workers(queue)], [.string(worker), .integer(deliveries.configuration.workerTimeout.milliseconds)])
    return reply.elements.compactMap(\.string)
  }

  /// Takes a shard whose owner gave it back or is not alive; false where it has another owner.
  private func take(_ shard: Shard, _ life: Life) async -> Bool {
    do throws(QueueError) {
      let known = try await ShardOwnership.read(queue, shard, deliveries)
      let isAbandoned = known.owner.map { $0 != name } ?? false
      if isAbandoned, let owner = known.owner, life.alive.contains(String(owner)) || ContinuousClock.now < life.nextSuccession {
        return false
      }
      guard
        case .own(let ownership, let suspectedUntil) = try await known.take(
          queue, shard, for: name, isAbandoned: isAbandoned, deliveries)
      else { return false }
      if isAbandoned { observe(.reclaimed(1)) }
      shards[shard.index].own(ownership, suspectedUntil: suspectedUntil)
      unsure.withLock { _ = $0.remove(shard) }
      return true
    } catch {
      unsure.withLock { _ = $0.insert(shard) }
      return false
    }
  }

  private func giveBack(_ ownership: ShardOwnership, _ shard: Shard) async {
    do {
      try await ownership.giveBack(queue, shard, deliveries)
      unsure.withLock { _ = $0.remove(shard) }
    } catch { unsure.withLock { _ = $0.insert(shard) } }
  }

  /// Gives back a shard that is another's share and that Redis has as this worker's, which does not work it: nobody else would take it.
  private func giveBackIfOwn(_ shard: Shard) async {
    guard let known = try? await ShardOwnership.read(queue, shard, deliveries) else { return }
    guard shards[shard.index].ownership == nil, let owner = known.owner, owner == name else {
      return unsure.withLock { _ = $0.remove(shard) }
    }
    await giveBack(known, shard)
  }

  /// Finds out which shards others have taken.
  private func loseWhatIsLost() async {
    await withDiscardingTaskGroup { group in
      for shard in shards {
        guard let believed = shard.ownership else { continue }
        group.addTask {
          guard let now = try? await ShardOwnership.read(self.queue, shard.shard, self.deliveries), now != believed,
            shard.ownership == believed
          else { return }
          self.lose(shard, believed)
          self.observe(.leaseLost)
        }
      }
    }
  }

  private func giveAllBack() async {
    _ = try? await deliveries.send(["ZREM", .string(Keys.workers(queue)), .string(name)])
    await withDiscardingTaskGroup { group in
      for shard in shards {
        guard let ownership = shard.leave() else { continue }
        group.addTask { await self.giveBack(ownership, shard.shard) }
      }
    }
  }

  // MARK: Work

  private func work(_ place: Place) async {
    await withDiscardingTaskGroup { work in
      for await shard in place.begun {
        await place.slots.take()
        work.addTask {
          if await self.work(shard, place) { self.ring(shard, place) }
          place.slots.giveBack()
        }
      }
    }
  }

  /// Entries of a shard that were read and are not worked yet.
  private struct Read {
    var entries: RedisReply.Elements
    var last = EntryID(milliseconds: 0, number: 0)

    init(_ entries: RedisReply) {
      // Apart from what it was read with.
      self.entries = entries.detached.elements
    }

    var count: Int { entries.underestimatedCount }
  }

  /// Works a shard until nothing is there, or others wait for its place; whether there may be more.
  private func work(_ shard: OwnedShard, _ place: Place) async -> Bool {
    var last = EntryID(milliseconds: 0, number: 0)
    var read: Read?
    while !isStopping, shard.isWanted, let ownership = shard.ownership {
      do {
        guard try await !look.isPaused() else {
          if let unworked = read.take() { place.room.leave(unworked.count) }
          last = EntryID(milliseconds: 0, number: 0)
          try await Task.sleep(for: PauseLook.pause)
          continue
        }
        let next: Read
        if let known = read.take() { next = known } else { next = try await readNext(shard.shard, behind: last, place) }
        guard next.count > 0 else {
          guard shard.rests() else { continue }
          await takeLeave(shard)
          return false
        }
        // What waits for its slice of the loop's time still waits.
        await place.slices?.pauseIfUsedUp()
        place.room.leave(next.count)
        let call = try await judge(next, shard, ownership, place)
        guard !call.isEmpty else { continue }
        do {
          read = try await settle(call, shard, ownership, place)
        } catch QueueError.unavailable {
          // Whether the step was done is not known: what is still on its way is refused under another epoch.
          await takeAgain(shard, ownership)
          guard let ownership = shard.ownership, try await isThere(call, shard.shard) else {
            last = EntryID(milliseconds: 0, number: 0)
            continue
          }
          read = try await settle(call, shard, ownership, place)
        }
        last = call.position
        if place.slots.isWanted { break }
      } catch QueueError.leaseLost {
        lose(shard, ownership)
      } catch {
        if let unworked = read.take() { place.room.leave(unworked.count) }
        last = EntryID(milliseconds: 0, number: 0)
        await takeAgain(shard, ownership)
      }
    }
    if let read { place.room.leave(read.count) }
    shard.stops()
    await takeLeave(shard)
    return !isStopping
  }

  private func takeLeave(_ shard: OwnedShard) async {
    if let ownership = shard.takeLeave() { await giveBack(ownership, shard.shard) }
  }

  private func readNext(_ shard: Shard, behind last: EntryID, _ place: Place) async throws -> Read {
    await place.room.reserve(pace.together)
    do {
      let reply = try await deliveries.redis.send([
        "XRANGE", .string(Keys.ready(queue, shard)), .string("(" + last.text), "+", "COUNT", .integer(Int64(pace.together)),
      ])
      let read = Read(reply)
      place.room.leave(pace.together - read.count)
      return read
    } catch {
      place.room.leave(pace.together)
      throw error
    }
  }

  /// Takes the shard under another epoch, when Redis can be asked again; it is lost where another has it.
  private func takeAgain(_ shard: OwnedShard, _ before: ShardOwnership) async {
    var known = before
    while !isStopping {
      // What fails at once, and again, is not to be tried all the time.
      try? await Task.sleep(for: .milliseconds(.random(in: 50...500)))
      do {
        switch try await known.take(queue, shard.shard, for: name, isAbandoned: false, deliveries) {
        case .own(let ownership, let suspectedUntil): return shard.own(ownership, suspectedUntil: suspectedUntil)
        // A step of this that got no answer was done all the same.
        case .lost(let now) where now.owner.map { $0 == name } ?? false: known = now
        case .lost: return lose(shard, before)
        }
      } catch { continue }
    }
    lose(shard, before)
  }

  /// Another has it, unless it is this worker's share: then it is taken anew.
  private func lose(_ shard: OwnedShard, _ ownership: ShardOwnership) {
    shard.lose(ownership)
    bell.ring()
  }

  /// Whether none of the messages is settled: what was to be done with them is not done.
  private func isThere(_ call: CommitCall, _ shard: Shard) async throws(QueueError) -> Bool {
    let reply = try await deliveries.send([
      "XRANGE", .string(Keys.ready(queue, shard)), "-", .string(call.position.text), "COUNT", .integer(Int64(call.works.count + 1)),
    ])
    return reply.elements.compactMap { entry in
      var parts = entry.elements
      return parts.nextString()
    } == call.works.map(\.entryID)
  }

  /// Judges what was read, in order, as long as the worker is not to stop. It may end before the last that was read: the rest is read anew.
  private func judge(_ read: Read, _ shard: OwnedShard, _ ownership: ShardOwnership, _ place: Place) async throws -> CommitCall {
    var call = CommitCall(queue, shard.shard, many: read.count, deliveries)
    var kind = ""
    var started = ContinuousClock.now
    for entry in read.entries {
      if isStopping { break }
      if await place.slices?.pauseIfUsedUp() == true { started = .now }
      var parts = entry.elements
      guard let id = parts.nextString(), let fields = parts.next() else { throw QueueError.unavailable(.unexpectedReply("XRANGE")) }
      var begun: Int64 = 1
      var isSuspected = false
      if let until = shard.suspectedUntil, let entry = EntryID(id) {
        if entry > until {
          shard.clearSuspicion()
          _ = try await deliveries.send(["HDEL", .string(Keys.suspects(queue, shard.shard)), "until"])
        } else {
          // Alone, so that one that it dies of is the first that is left.
          if !call.isEmpty { return call }
          isSuspected = true
          begun = try await count(id, shard.shard, ownership)
        }
      }
      guard
        let message = LeasedMessage(
          queue: queue, entryID: id, fields: fields, deliveryCount: begun, consumer: "", kindBefore: kind),
        message.shard == shard.shard
      else {
        call.bury(UnreadableEntry(entryID: id, fields: fields), started: started)
        continue
      }
      kind = message.message.kind
      if begun > deliveries.configuration.maxDeliveries {
        call.bury(message, error: "its worker ended \(begun - 1) times without finishing it", isSuspected: true, started: started)
        continue
      }
      let outcome = await handler(message)
      let ended = ContinuousClock.now
      turned.withLock { $0 = ended }
      add(message, outcome, to: &call, isSuspected: isSuspected, started: started)
      if let slices = place.slices {
        slices.use(started.duration(to: ended))
      } else {
        await Task.yield()
      }
      started = ended
    }
    return call
  }

  /// How often a message was begun, with this time. An owner died before, when it may have been begun too.
  private func count(_ entry: String, _ shard: Shard, _ ownership: ShardOwnership) async throws(QueueError) -> Int64 {
    let reply = try await deliveries.run(
      Scripts.suspect, [Keys.ownership(queue, shard), Keys.suspects(queue, shard)], [.string(ownership.text), .string(entry)])
    guard let count = reply.integer else { throw .unavailable(.unexpectedReply("suspect")) }
    guard count > 0 else { throw .leaseLost }
    return count + 1
  }

  private func add(
    _ message: LeasedMessage, _ outcome: WorkOutcome, to call: inout CommitCall, isSuspected: Bool, started: ContinuousClock.Instant
  ) {
    let configuration = deliveries.configuration
    switch outcome {
    case .complete(let completion):
      call.complete(message, completion, isSuspected: isSuspected, started: started, now: DeliveryQueue.now)
    case .retry(let delay, let error):
      guard delay != nil || message.attempt < configuration.maxAttempts else {
        return call.bury(message, error: error, isSuspected: isSuspected, started: started)
      }
      call.delay(
        message, delay ?? configuration.backoff(message.attempt), error: error, isSuspected: isSuspected, started: started)
    case .wait(let delay): call.delay(message, delay, error: nil, isSuspected: isSuspected, started: started)
    case .giveBack: call.delay(message, Self.handOver, error: nil, isSuspected: isSuspected, started: started)
    case .deadLetter(let error): call.bury(message, error: error, isSuspected: isSuspected, started: started)
    }
  }

  /// Settles what was judged; what is to be worked next where there is room for it.
  private func settle(_ call: CommitCall, _ shard: OwnedShard, _ ownership: ShardOwnership, _ place: Place) async throws -> Read? {
    let reading = !isStopping && shard.isWanted && place.room.reserveAtOnce(pace.together)
    var read: Read?
    do {
      let (outcomes, entries) = try await commit(call, shard.shard, ownership, reading: reading ? pace.together : 0)
      if reading {
        read = Read(entries)
        place.room.leave(pace.together - (read?.count ?? 0))
      }
      try await settleHeld(call, outcomes, shard.shard, ownership)
      return read
    } catch {
      if reading { place.room.leave(read?.count ?? pace.together) }
      throw error
    }
  }

  /// What a handler makes of messages that were counted before is settled in steps of their own.
  private func settleHeld(_ call: CommitCall, _ outcomes: [Int64], _ shard: Shard, _ ownership: ShardOwnership) async throws {
    guard outcomes.contains(2) else { return }
    var again = CommitCall(queue, shard, many: 1, deliveries)
    for (work, outcome) in zip(call.works, outcomes) where outcome == 2 {
      guard let message = work.message, let whenSeen = work.whenSeen else { continue }
      add(message, await whenSeen(), to: &again, isSuspected: work.isSuspected, started: work.started)
    }
    let (outcomes, _) = try await commit(again, shard, ownership, reading: 0)
    try await settleHeld(again, outcomes, shard, ownership)
  }

  private func commit(_ call: CommitCall, _ shard: Shard, _ ownership: ShardOwnership, reading: Int) async throws(QueueError)
    -> (outcomes: [Int64], next: RedisReply)
  {
    // Before it is put there, so that a process that dies in between makes no message late.
    if let due = call.due { try await deliveries.schedule(queue).note(shard, due: due) }
    let reply = try await deliveries.run(Scripts.commit, call.keys, call.arguments(ownership, reading: reading))
    var parts = reply.elements
    guard let isOwner = parts.next()?.integer else { throw .unavailable(.unexpectedReply("commit")) }
    guard isOwner == 1 else {
      for _ in call.works { observe(.leaseLost) }
      throw .leaseLost
    }
    let outcomes = parts.next()?.elements.compactMap(\.integer) ?? []
    guard outcomes.count == call.works.count, let next = parts.next() else { throw .unavailable(.unexpectedReply("commit")) }
    if let due = call.due { deliveries.noteAgain(queue, shard, due: due) }
    tell(call, outcomes)
    if call.leavesDeadLetter { try? await DeadLetterBound(queue: queue, deliveries: deliveries).enforce(shard) }
    return (outcomes, next)
  }

  private func tell(_ call: CommitCall, _ outcomes: [Int64]) {
    let (instant, wall) = (ContinuousClock.now, DeliveryQueue.now)
    for (work, outcome) in zip(call.works, outcomes) where outcome != 2 {
      if let death = work.death {
        deliveries.logger.error(
          "a message became a dead letter",
          metadata: [
            "queue": "\(queue.rawValue)", "delivery": "\(work.message.map { "\($0.deliveryID)" } ?? "unknown")", "reason": "\(death)",
          ])
      }
      guard let message = work.message else { continue }
      observe(
        .processed(
          outcome: outcome == 0 ? "duplicate" : work.word, seconds: work.started.duration(to: instant) / .seconds(1),
          waitedSeconds: Double(wall - message.message.receivedAt) / 1000))
    }
  }
}
