import RedisClient
import Synchronization

/// Which shards the worker owns.
extension ShardWorker {
  /// What the last answer to this worker's beat told.
  struct Membership {
    /// The workers that are alive.
    var alive: [String] = []
    var lastBeat = ContinuousClock.now
    /// The form that shards are worked in.
    var form = StoreForm.newest
    /// When shards of workers that are not alive may be taken.
    var nextSuccession = ContinuousClock.now
  }

  /// Says that this worker is alive, again and again, whatever else it does.
  func sendHeartbeats() async {
    membership.withLock { $0.lastBeat = .now }
    let timeout = deliveries.configuration.workerTimeout
    while !Task.isCancelled {
      if let alive = try? await workers(beating: name) {
        let form = try? await deliveries.form
        let (isOther, wasDead) = membership.withLock { membership in
          let wasDead = membership.lastBeat.duration(to: .now) >= timeout
          // Where Redis was away for all, the others are alive and have not come to say so yet.
          if wasDead { membership.nextSuccession = .now + timeout }
          let form = form ?? membership.form
          defer { (membership.alive, membership.lastBeat, membership.form) = (alive, .now, form) }
          return (membership.alive != alive || membership.form != form, wasDead)
        }
        if wasDead { await dropLostShards() }
        if isOther { wakeSignal.wake() }
      }
      try? await Task.sleep(for: min(Self.longestBeat, timeout / 5))
    }
  }

  /// Gives back what is another's share and takes this worker's own, again and again until it is to stop.
  func rebalance(_ loops: [WorkerLoop], _ subscriptions: [ShardSubscriptions]) async {
    var nextLook = ContinuousClock.now
    var form: StoreForm?
    while !isStopping {
      turned.withLock { $0 = .now }
      let membership = membership.withLock { $0 }
      // Every shard is taken anew.
      if form != membership.form { (form, nextLook) = (membership.form, .now) }
      let share = ShardAssignment.shards(of: name, among: membership.alive)
      await withDiscardingTaskGroup { group in
        for shard in shards where shard.ownership != nil && !share.contains(shard.shard) {
          subscriptions[shard.shard.index % subscriptions.count].forget(shard.shard)
          guard let ownership = shard.beginRelease() else { continue }
          group.addTask { await self.giveBack(ownership, shard.shard) }
        }
        for shard in uncertain.withLock({ $0 }) where !share.contains(shard) { group.addTask { await self.releaseIfOwn(shard) } }
        for shard in share where shards[shard.index].ownership == nil {
          group.addTask {
            guard await self.take(shard, membership) else { return }
            subscriptions[shard.index % subscriptions.count].want(shard)
            self.wake(shard, loops)
          }
        }
      }
      if ContinuousClock.now >= nextLook {
        // Builds of the first form tell nobody what they accept.
        let areHeard = membership.form > .leased && subscriptions.allSatisfy(\.isWhole)
        nextLook = .now + (areHeard ? Self.look : Self.lookInstead)
        for shard in share { wake(shard, loops) }
      }
      let isWaiting = share.contains { shards[$0.index].ownership == nil } || uncertain.withLock { !$0.isSubset(of: share) }
      await wakeSignal.wait(for: isWaiting ? Self.handOver : max(.milliseconds(1), ContinuousClock.now.duration(to: nextLook)))
    }
  }

  func wake(_ shard: Shard, _ loops: [WorkerLoop]) { wake(shards[shard.index], loops[shard.index % loops.count]) }

  func wake(_ shard: WorkerShard, _ loop: WorkerLoop) {
    if shard.wake() { loop.begins.yield(shard) }
  }

  /// Renews what is leased, until the task is cancelled. One that is lost is noticed when it is settled.
  func renewLeases() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: deliveries.configuration.lease / 3) } catch { return }
      await withDiscardingTaskGroup { group in
        for shard in shards where !shard.leases.isEmpty {
          group.addTask { _ = try? await self.consumer.renew(shard.leases, of: shard.shard) }
        }
      }
    }
  }

  /// The workers that are alive. `beating`: one that says that it is.
  private func workers(beating worker: String) async throws(QueueError) -> [String] {
    let reply = try await deliveries.run(
      Scripts.beat, [Keys.workers(queue)], [.string(worker), .integer(deliveries.configuration.workerTimeout.milliseconds)])
    return reply.elements.compactMap(\.string)
  }

  /// Takes a shard whose owner gave it back or is not alive; false where it has another owner.
  private func take(_ shard: Shard, _ membership: Membership) async -> Bool {
    do throws(QueueError) {
      let known = try await ShardOwnership.read(queue, shard, deliveries)
      let isAbandoned = known.owner.map { $0 != name } ?? false
      if isAbandoned, let owner = known.owner {
        let now = ContinuousClock.now
        // The list of live workers is old when this worker could not renew its own entry.
        let isListOld = membership.lastBeat.duration(to: now) >= deliveries.configuration.workerTimeout
        if isListOld || membership.alive.contains(String(owner)) || now < membership.nextSuccession { return false }
      }
      guard
        case .own(let ownership, let suspectedUntil) = try await known.take(
          queue, shard, for: name, isAbandoned: isAbandoned, deliveries)
      else { return false }
      if isAbandoned { settlement.observe(.reclaimed(1)) }
      shards[shard.index].own(ownership, suspectedUntil: suspectedUntil)
      uncertain.withLock { _ = $0.remove(shard) }
      return true
    } catch {
      uncertain.withLock { _ = $0.insert(shard) }
      return false
    }
  }

  func giveBack(_ ownership: ShardOwnership, _ shard: Shard) async {
    do {
      try await ownership.giveBack(queue, shard, deliveries)
      uncertain.withLock { _ = $0.remove(shard) }
    } catch { uncertain.withLock { _ = $0.insert(shard) } }
  }

  /// Gives back a shard that is another's share and that Redis has as this worker's, which does not work it: nobody else would take it.
  private func releaseIfOwn(_ shard: Shard) async {
    guard let known = try? await ShardOwnership.read(queue, shard, deliveries) else { return }
    guard shards[shard.index].ownership == nil, let owner = known.owner, owner == name else {
      return uncertain.withLock { _ = $0.remove(shard) }
    }
    await giveBack(known, shard)
  }

  /// Finds out which shards others have taken.
  private func dropLostShards() async {
    await withDiscardingTaskGroup { group in
      for shard in shards {
        guard let believed = shard.ownership else { continue }
        group.addTask {
          guard let now = try? await ShardOwnership.read(self.queue, shard.shard, self.deliveries), now.text != believed.text,
            shard.ownership == believed
          else { return }
          self.lose(shard, believed)
          self.settlement.observe(.leaseLost)
        }
      }
    }
  }

  /// Gives back what it owns, and what it may own since it asked for it and had no answer. Nothing is being worked any more.
  func releaseAll() async {
    _ = try? await deliveries.send(["ZREM", .string(Keys.workers(queue)), .string(name)])
    await withDiscardingTaskGroup { group in
      for shard in shards {
        // One whose work was to begin when the worker was cancelled never began.
        shard.endWork()
        guard let ownership = shard.beginRelease() else { continue }
        group.addTask { await self.giveBack(ownership, shard.shard) }
      }
    }
    await withDiscardingTaskGroup { group in
      for shard in uncertain.withLock({ $0 }) { group.addTask { await self.releaseIfOwn(shard) } }
    }
    if hasLeased.withLock({ $0 }) { await consumer.delete() }
  }

  /// Takes the shard under another epoch, when Redis can be asked again; it is lost where another has it.
  ///
  /// - Parameter isFailed: whether a step failed: what fails at once, and again, is not to be tried all the time.
  func takeAgain(_ shard: WorkerShard, _ before: ShardOwnership, isFailed: Bool = true) async {
    var (known, failures) = (before, isFailed ? 1 : 0)
    while !isStopping {
      if failures > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: Self.pauses(after: failures)))) }
      failures += 1
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

  /// Milliseconds before a shard is tried again. All shards wait for the same Redis: each that asked twice a second all the time would take
  /// much of a processor while it is away, and two seconds are soon enough when it comes back after long.
  static func pauses(after failures: Int) -> ClosedRange<Int> {
    let longest = 500 << min(2, max(0, failures - 3))
    return longest / 10...longest
  }

  /// Another has it, unless it is this worker's share: then it is taken anew.
  func lose(_ shard: WorkerShard, _ ownership: ShardOwnership) {
    shard.lose(ownership)
    wakeSignal.wake()
  }
}
