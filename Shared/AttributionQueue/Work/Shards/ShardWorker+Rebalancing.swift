import RedisClient
import Synchronization

/// Heartbeats, and taking and releasing shards.
extension ShardWorker {
  /// What the worker learned with its last heartbeat.
  struct Membership {
    /// The live workers of the queue.
    var alive: [String] = []
    /// When Redis replied to that heartbeat.
    var lastBeat = ContinuousClock.now
    /// The form in which shards are worked.
    var form = StoreForm.newest
    /// The time from which shards of workers that are not alive may be taken.
    var nextTakeover = ContinuousClock.now
  }

  /// Sends heartbeats until the task is cancelled.
  func sendHeartbeats() async {
    membership.withLock { $0.lastBeat = .now }
    let timeout = deliveries.configuration.workerTimeout
    while !Task.isCancelled {
      if let alive = try? await workers(beating: name) {
        let form = try? await deliveries.form
        let (isChanged, wasDead) = membership.withLock { membership in
          // The other workers may have considered this one dead.
          let wasDead = membership.lastBeat.duration(to: .now) >= timeout
          // If Redis was unavailable, the others may be alive and not have sent their heartbeats yet.
          if wasDead { membership.nextTakeover = .now + timeout }
          let form = form ?? membership.form
          defer { (membership.alive, membership.lastBeat, membership.form) = (alive, .now, form) }
          return (membership.alive != alive || membership.form != form, wasDead)
        }
        if wasDead { await dropLostShards() }
        if isChanged { wakeSignal.wake() }
      }
      try? await Task.sleep(for: min(Self.maxHeartbeatInterval, timeout / 5))
    }
  }

  /// Releases shards that belong to the shares of other workers (``ShardAssignment``), takes those of this worker's share, and wakes its
  /// shards periodically, until the worker stops.
  func rebalance(_ loops: [WorkerLoop], _ subscriptions: [ShardSubscriptions]) async {
    var nextRead = ContinuousClock.now
    var form: StoreForm?
    var (alive, share): ([String]?, Set<Shard>) = (nil, [])
    while !isStopping {
      lastProgress.withLock { $0 = .now }
      let membership = membership.withLock { $0 }
      // After a change of form, every shard is taken again and read immediately.
      if form != membership.form { (form, nextRead) = (membership.form, .now) }
      if alive != membership.alive { (alive, share) = (membership.alive, ShardAssignment.shards(of: name, among: membership.alive)) }
      await withDiscardingTaskGroup { group in
        for shard in shards where shard.ownership != nil && !share.contains(shard.shard) {
          subscriptions[shard.shard.index % subscriptions.count].remove(shard.shard)
          guard let ownership = shard.beginRelease() else { continue }
          group.addTask { await self.giveBack(ownership, shard.shard) }
        }
        for shard in uncertain.withLock({ $0 }) where !share.contains(shard) { group.addTask { await self.releaseIfOwn(shard) } }
        for shard in share where shards[shard.index].ownership == nil {
          group.addTask {
            guard await self.take(shard, membership) else { return }
            subscriptions[shard.index % subscriptions.count].add(shard)
            self.wake(shard, loops)
          }
        }
      }
      if ContinuousClock.now >= nextRead {
        // Older builds, which may run in the first form, do not publish when they accept a message.
        let areAnnounced = membership.form > .leased && subscriptions.allSatisfy(\.isComplete)
        nextRead = .now + (areAnnounced ? Self.readInterval : Self.readIntervalWithoutSubscriptions)
        for shard in areAnnounced ? await shardsWithWork(of: share, membership.form) : share { wake(shard, loops) }
      }
      let isWaiting = share.contains { shards[$0.index].ownership == nil } || uncertain.withLock { !$0.isSubset(of: share) }
      await wakeSignal.wait(for: isWaiting ? Self.retryInterval : max(.milliseconds(1), ContinuousClock.now.duration(to: nextRead)))
    }
  }

  /// The idle shards whose streams have messages, and the shards that are owned in another form and must be taken again. One command for
  /// all idle shards costs Redis and the worker a fraction of a read of each. Shards that are being worked, as all are under load, are left
  /// out: they are read to their end anyway.
  private func shardsWithWork(of share: Set<Shard>, _ form: StoreForm) async -> Set<Shard> {
    // The streams of a cluster are in different slots.
    guard !deliveries.redis.isCluster else { return share }
    let inOtherForm = share.filter { shard in shards[shard.index].ownership.map { $0.form != form } ?? false }
    let idle = share.filter { shards[$0.index].isIdle }.subtracting(inOtherForm)
    guard !idle.isEmpty else { return inOtherForm }
    let keys = idle.map { RedisArgument.string(Keys.ready(queue, $0)) }
    let positions = [RedisArgument](repeating: "0", count: keys.count)
    let command: [RedisArgument] = ["XREAD", "COUNT", "1", "STREAMS"] + keys + positions
    guard let reply = try? await deliveries.redis.send(command, name: "XREAD messages") else { return share }
    // Null, or a list of {stream, entries}.
    return inOtherForm.union((reply.array ?? []).compactMap { $0.array?.first?.string.flatMap(Keys.shard(of:)) })
  }

  /// Begins to work a shard, unless it is being worked already.
  func wake(_ shard: Shard, _ loops: [WorkerLoop]) { wake(shards[shard.index], loops[shard.index % loops.count]) }

  func wake(_ shard: WorkerShard, _ loop: WorkerLoop) {
    if shard.wake() { loop.wokenInput.yield(shard) }
  }

  /// Renews leases until the task is cancelled, in ``StoreForm/leased``. A lost lease is detected when its message is settled.
  func renewLeases() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: deliveries.configuration.leaseRenewal) } catch { return }
      await withDiscardingTaskGroup { group in
        for shard in shards where !shard.leases.isEmpty {
          group.addTask { _ = try? await self.consumer.renew(shard.leases, of: shard.shard) }
        }
      }
    }
  }

  /// Sends a heartbeat of a worker and returns the live workers by name.
  private func workers(beating worker: String) async throws(QueueError) -> [String] {
    let reply = try await deliveries.run(
      Scripts.beat, [Keys.workers(queue)], [.string(worker), .integer(deliveries.configuration.workerTimeout.milliseconds)])
    return reply.elements.compactMap(\.string).sorted()
  }

  /// Takes a shard that has no owner, whose owner is not alive any more, or that Redis lists under this worker; false if it has another
  /// owner.
  private func take(_ shard: Shard, _ membership: Membership) async -> Bool {
    do throws(QueueError) {
      let known = try await ShardOwnership.read(queue, shard, deliveries)
      let isAbandoned = known.owner.map { $0 != name } ?? false
      if isAbandoned, let owner = known.owner {
        let now = ContinuousClock.now
        // While this worker's heartbeats fail, its list of live workers is outdated.
        let isListOutdated = membership.lastBeat.duration(to: now) >= deliveries.configuration.workerTimeout
        if isListOutdated || membership.alive.contains(String(owner)) || now < membership.nextTakeover { return false }
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

  /// Gives a shard back. If the request gets no reply, the shard is listed as uncertain.
  func giveBack(_ ownership: ShardOwnership, _ shard: Shard) async {
    do {
      try await ownership.giveBack(queue, shard, deliveries)
      uncertain.withLock { _ = $0.remove(shard) }
    } catch { uncertain.withLock { _ = $0.insert(shard) } }
  }

  /// Releases a shard that Redis still lists under this worker, although it does not work the shard: no other worker would take it.
  private func releaseIfOwn(_ shard: Shard) async {
    guard let known = try? await ShardOwnership.read(queue, shard, deliveries) else { return }
    guard shards[shard.index].ownership == nil, let owner = known.owner, owner == name else {
      return uncertain.withLock { _ = $0.remove(shard) }
    }
    await giveBack(known, shard)
  }

  /// Ends the ownership of shards that other workers have taken.
  private func dropLostShards() async {
    await withDiscardingTaskGroup { group in
      for shard in shards {
        guard let assumed = shard.ownership else { continue }
        group.addTask {
          guard let current = try? await ShardOwnership.read(self.queue, shard.shard, self.deliveries), current.text != assumed.text,
            shard.ownership == assumed
          else { return }
          self.lose(shard, assumed)
          self.settlement.observe(.leaseLost)
        }
      }
    }
  }

  /// Releases all shards that the worker owns, and those that it may own because a request got no reply. Called when no shard is being
  /// worked.
  func releaseAll() async {
    _ = try? await deliveries.send(["ZREM", .string(Keys.workers(queue)), .string(name)])
    await withDiscardingTaskGroup { group in
      for shard in shards {
        // A shard that was woken when the worker was cancelled is marked as being worked, but its work never began.
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

  /// Takes an owned shard again under a new epoch, and repeats this until Redis replies. The shard is lost if another worker has taken it.
  ///
  /// - Parameter afterFailure: true if a step failed before: then a pause precedes the first attempt.
  func takeAgain(_ shard: WorkerShard, _ before: ShardOwnership, afterFailure: Bool = true) async {
    var (known, failures) = (before, afterFailure ? 1 : 0)
    while !isStopping {
      if failures > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: Self.pauses(after: failures)))) }
      failures += 1
      do {
        switch try await known.take(queue, shard.shard, for: name, isAbandoned: false, deliveries) {
        case .own(let ownership, let suspectedUntil): return shard.own(ownership, suspectedUntil: suspectedUntil)
        // An earlier attempt succeeded although its reply was lost.
        case .lost(let current) where current.owner.map { $0 == name } ?? false: known = current
        case .lost: return lose(shard, before)
        }
      } catch { continue }
    }
    lose(shard, before)
  }

  /// The range of the pause before the next attempt to take a shard, milliseconds. It grows up to two seconds: while Redis is unavailable,
  /// all shards of a worker retry at the same time, which would use much processor time otherwise.
  static func pauses(after failures: Int) -> ClosedRange<Int> {
    let maxPause = 500 << min(2, max(0, failures - 3))
    return maxPause / 10...maxPause
  }

  /// Ends the ownership of a shard. If the shard belongs to this worker's share, ``rebalance(_:_:)`` takes it again as soon as it can.
  func lose(_ shard: WorkerShard, _ ownership: ShardOwnership) {
    shard.lose(ownership)
    wakeSignal.wake()
  }
}
