import RedisClient

/// Background tasks of the worker: it learns which shards changed, renews its leases and reclaims expired ones.
extension DeadlineWorker {
  /// Waits for shards that changed or have due messages, and marks them.
  func hear() async {
    // A worker that is stopping must not take due shards from the schedule, because other workers would miss them.
    while !isStopping {
      do {
        let due = try await schedule.due()
        guard !due.shards.isEmpty else {
          try await schedule.wait(due, on: blocking)
          continue
        }
        state.withLock { state in for shard in due.shards { state.index.mark(shard.index) } }
        wakeSignal.wake()
        // A short pause lets changes that arrive together be queried together.
        try await Task.sleep(for: .milliseconds(2))
      } catch {
        try? await Task.sleep(for: .milliseconds(.random(in: 100...1000)))
      }
    }
  }

  /// Marks all shards every ``sweepTime`` while messages wait, and every ``fullScan`` in any case.
  func sweep() async {
    var lastFullScan = ContinuousClock.now
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.sweepTime * Double.random(in: 0.8...1)) } catch { return }
      let isDue = lastFullScan.duration(to: .now) >= Self.fullScan
      guard isDue || state.withLock(\.index.waiting) > 0 else { continue }
      lastFullScan = .now
      state.withLock { $0.index.mark(nil) }
      wakeSignal.wake()
    }
  }

  /// Renews the leases of messages that are being worked.
  func renew() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: deliveries.configuration.leaseRenewal) } catch { return }
      // A lost lease is detected when its message is settled.
      await withDiscardingTaskGroup { group in
        for lease in state.withLock({ Array($0.held.values) }) {
          group.addTask { _ = try? await self.consumer.renew([lease.token], of: lease.shard) }
        }
      }
    }
  }

  /// Reclaims messages of workers that died.
  func takeOver() async {
    // If nothing was leased in a shard, no lease can expire there before one lease duration has passed.
    var quiet: [Shard: ContinuousClock.Instant] = [:]
    while !isStopping {
      // Messages with expired leases are not worked either while the queue is paused.
      let isPaused = (try? await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer) != 0
      await withDiscardingTaskGroup { group in
        let lease = deliveries.configuration.lease
        for shard in Shard.all where !isStopping && !isPaused && quiet[shard].map({ $0.duration(to: .now) >= lease }) ?? true {
          let asked = ContinuousClock.now
          guard let (entries, leased) = try? await consumer.reclaim(shard) else { continue }
          quiet[shard] = leased == 0 ? asked : nil
          let taken = await messages(entries, of: shard)
          guard !taken.isEmpty else { continue }
          settlement.observe(.reclaimed(taken.count))
          state.withLock { state in for message in taken { state.held[Self.key(message)] = message } }
          for message in taken { group.addTask { await self.work(message) } }
        }
      }
      let end = ContinuousClock.now + min(deliveries.configuration.lease / 2, .seconds(5))
      while !isStopping, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(100)) }
    }
  }
}
