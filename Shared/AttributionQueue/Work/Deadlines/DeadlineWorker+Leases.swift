import RedisClient

/// Background tasks of the worker: watching the schedule, renewing its own leases, and reclaiming expired leases of other workers.
extension DeadlineWorker {
  /// Waits until shards are due in the schedule, because a message was accepted there or a delayed one is due, and marks them as changed.
  func watchSchedule() async {
    // A worker that is stopping must not take due shards from the schedule, because other workers would query them late.
    while !isStopping {
      do {
        let due = try await schedule.due()
        guard !due.shards.isEmpty else {
          try await schedule.wait(due, on: blocking)
          continue
        }
        state.withLock { state in for shard in due.shards { state.index.mark(shard.index) } }
        wakeSignal.wake()
        // A short pause, so that shards that change at nearly the same time are queried together.
        try await Task.sleep(for: .milliseconds(2))
      } catch {
        try? await Task.sleep(for: .milliseconds(.random(in: 100...1000)))
      }
    }
  }

  /// Marks all shards as changed every ``sweepInterval`` while messages wait, and every ``fullScanInterval`` in any case.
  func sweep() async {
    var lastFullScan = ContinuousClock.now
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.sweepInterval * Double.random(in: 0.8...1)) } catch { return }
      let isDue = lastFullScan.duration(to: .now) >= Self.fullScanInterval
      guard isDue || state.withLock(\.index.waiting) > 0 else { continue }
      lastFullScan = .now
      state.withLock { $0.index.mark(nil) }
      wakeSignal.wake()
    }
  }

  /// Renews the leases of messages that are being processed.
  func renew() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: deliveries.configuration.leaseRenewal) } catch { return }
      // A lost lease is detected when its message is settled.
      await withDiscardingTaskGroup { group in
        for lease in state.withLock({ Array($0.leased.values) }) {
          group.addTask { _ = try? await self.consumer.renew([lease.token], of: lease.shard) }
        }
      }
    }
  }

  /// Reclaims messages whose leases expired, because their worker ended without settling them, and processes them.
  func reclaimExpired() async {
    // The time at which each shard was last found without leases. No lease can expire there before one lease duration has passed.
    var foundWithoutLeases: [Shard: ContinuousClock.Instant] = [:]
    while !isStopping {
      // While the queue is paused, messages with expired leases are not processed either.
      let isPaused = (try? await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer) != 0
      await withDiscardingTaskGroup { group in
        let lease = deliveries.configuration.lease
        for shard in Shard.all where !isStopping && !isPaused && foundWithoutLeases[shard].map({ $0.duration(to: .now) >= lease }) ?? true {
          let queriedAt = ContinuousClock.now
          guard let (entries, leased) = try? await consumer.reclaim(shard) else { continue }
          foundWithoutLeases[shard] = leased == 0 ? queriedAt : nil
          let reclaimed = await messages(entries, of: shard)
          guard !reclaimed.isEmpty else { continue }
          settlement.observe(.reclaimed(reclaimed.count))
          state.withLock { state in for message in reclaimed { state.leased[Self.key(message)] = message } }
          for message in reclaimed { group.addTask { await self.work(message) } }
        }
      }
      let end = ContinuousClock.now + min(deliveries.configuration.lease / 2, .seconds(5))
      while !isStopping, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(100)) }
    }
  }
}
