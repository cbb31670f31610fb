import RedisClient

/// The work of a shard: its messages are read, handled in their order and settled, until the stream is empty.
///
/// accept.lua announces a message if its stream was empty before. ``ShardSubscriptions`` receives the announcement and wakes the shard,
/// which `work` then takes from ``WorkerLoop/woken``. The handler of the intake is `VerificationWorker.handle` of verifier, and its batch
/// handler is that for SKAdNetwork postbacks (`VerificationWorker+SKAdNetwork.swift`).
extension ShardWorker {
  /// Works the shards of an event loop that are woken, at most as many at a time as the loop has slots.
  func work(_ loop: WorkerLoop) async {
    await withDiscardingTaskGroup { work in
      for await shard in loop.woken {
        await loop.slots.take()
        work.addTask {
          if await self.work(shard, loop) { self.wake(shard, loop) }
          loop.slots.giveBack()
        }
      }
    }
  }

  /// Works a shard until its stream is empty or other shards wait for a slot. Returns true if there may be more messages.
  private func work(_ shard: WorkerShard, _ loop: WorkerLoop) async -> Bool {
    let beginning = EntryID(milliseconds: 0, number: 0)
    var last = beginning
    // Entries that were read while the previous ones were settled.
    var read: ReadEntries?
    while let ownership = shard.ownership {
      // Leased messages must be handled or given back before the worker may stop or pause.
      let hasLeases = ownership.form == .leased && read != nil
      if !hasLeases, isStopping || !shard.mayContinue { break }
      do {
        if !hasLeases {
          guard try await !pauseFlag.isPaused() else {
            if let unhandled = read.take() { loop.backpressure.release(unhandled.count) }
            last = beginning
            try await Task.sleep(for: PauseFlagCache.checkInterval)
            continue
          }
          guard try await deliveries.form == ownership.form else {
            if let unhandled = read.take() { loop.backpressure.release(unhandled.count) }
            last = beginning
            await takeAgain(shard, ownership, afterFailure: false)
            continue
          }
        }
        let next: ReadEntries
        if let readBefore = read.take() {
          next = readBefore
        } else if let announced = announced(shard, ownership, loop) {
          next = announced
        } else {
          next = try await readNext(shard, ownership, after: last, loop)
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
            // The step is refused unless the message is the first of the stream with this content, so that a forged announcement settles nothing.
            let remaining = try await settlement.commitAnnounced(batch, ownership, group: loop.group)
            if remaining != nil { shard.settledUntil = batch.position }
            read = remaining == 0 ? ReadEntries(.null) : nil
            last = beginning
          } else {
            read = try await settle(batch, shard, ownership, loop, readsOn: next.count == Self.maxBatchSize)
            last = batch.position
            shard.settledUntil = batch.position
          }
        } catch QueueError.unavailable {
          read = try await settleAgain(batch, shard, ownership, loop)
          last = read == nil ? beginning : batch.position
        }
        if loop.slots.isAwaited, ownership.form == .owned || read == nil { break }
      } catch QueueError.leaseLost {
        lose(shard, ownership)
      } catch {
        if let unhandled = read.take() { loop.backpressure.release(unhandled.count) }
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

  /// The message that was announced since the shard was read; nil if there is none, or if it must be read from the stream.
  private func announced(_ shard: WorkerShard, _ ownership: ShardOwnership, _ loop: WorkerLoop) -> ReadEntries? {
    guard let announcement = shard.takeAnnouncement(), ownership.form == .owned, loop.group?.isBusy != true,
      let read = ReadEntries(announcement: announcement),
      // A message that was read before its announcement arrived is settled already.
      let id = read.firstID, id > shard.settledUntil, loop.backpressure.tryReserve(read.count)
    else { return nil }
    return read
  }

  /// Calls the handlers for the messages in order, and returns the batch to settle. The batch lacks the last messages if the worker stops
  /// or if a suspected message must be settled alone; they are then read again. Leased messages would not be read again, so they are given
  /// back when the worker stops.
  func handle(_ read: ReadEntries, _ shard: WorkerShard, _ ownership: ShardOwnership, _ loop: WorkerLoop) async throws -> CommitBatch {
    var batch = CommitBatch(queue, shard.shard, expectedCount: read.count, deliveries)
    var order = OrderCheck(queue, shard.shard, read.entries, deliveries)
    let isLeased = ownership.form == .leased
    let (entries, isSuspected) = try await self.entries(in: read, shard, ownership)
    var next = 0
    while next < entries.count {
      // A suspected message is handled even if the worker stops, because its start is counted already.
      if isStopping && !isLeased && !isSuspected { break }
      await loop.slices?.pauseIfUsedUp()
      let started = ContinuousClock.now
      let together = isSuspected || isStopping ? [] : batchedMessages(in: entries[next...])
      if let batchHandler, together.count > 1 {
        let outcomes = batchHandler.outcomes(together)
        precondition(outcomes.count == together.count, "a batch handler returns one outcome for each message")
        for (message, outcome) in zip(together, outcomes) { await settlement.add(message, outcome, to: &batch, started: started) }
        next += together.count
      } else {
        try await handle(
          entries[next], isSuspected: isSuspected, givesBack: isLeased && isStopping, in: &batch, &order, started: started)
        next += 1
      }
      let ended = ContinuousClock.now
      lastProgress.withLock { $0 = ended }
      if let slices = loop.slices {
        slices.use(started.duration(to: ended))
      } else {
        await Task.yield()
      }
    }
    return batch
  }

  /// The messages at the beginning of the entries that the batch handler may handle.
  private func batchedMessages(in entries: ArraySlice<Settlement.ReadEntry>) -> [LeasedMessage] {
    guard let batchHandler else { return [] }
    var messages: [LeasedMessage] = []
    for entry in entries {
      guard let message = entry.message, message.span == nil, batchHandler.accepts(message) else { break }
      if messages.isEmpty { messages.reserveCapacity(entries.count) }
      messages.append(message)
    }
    return messages
  }

  /// Handles one entry, and adds the outcome to the batch.
  ///
  /// - Parameter givesBack: true if the message is given back without a call of the handler.
  private func handle(
    _ entry: Settlement.ReadEntry, isSuspected: Bool, givesBack: Bool, in batch: inout CommitBatch, _ order: inout OrderCheck,
    started: ContinuousClock.Instant
  ) async throws {
    guard let message = entry.message else {
      return settlement.addDeadLetter(entry, isSuspected: isSuspected, started: started, to: &batch)
    }
    let outcome = givesBack ? .giveBack : await callHandler(message)
    guard case .inOrder(let apply) = outcome else {
      return await settlement.add(message, outcome, to: &batch, isSuspected: isSuspected, started: started)
    }
    if try await order.isTurn(of: message, after: batch) {
      let outcome = await message.traced(apply)
      await settlement.add(
        message, outcome, to: &batch, isSuspected: isSuspected, isOrdered: message.line != nil, started: started)
    } else {
      batch.wait(message, isSuspected: isSuspected, started: started)
    }
  }

  private func callHandler(_ message: LeasedMessage) async -> WorkOutcome {
    guard message.span != nil else { return await handler(message) }
    return await message.traced { await self.handler(message) }
  }

  /// Settles the batch: one atomic step claims the natural keys, publishes the events in the feed and removes the messages. For a
  /// ``PlainBatch`` whose natural keys are new, commit_plain.lua does this, or a transaction with the same effect (``GroupCommit``: batches
  /// of 8 messages and more, and smaller ones under load); otherwise commit.lua. Returns the entries to handle next, or nil if they must be
  /// read.
  ///
  /// - Parameter readsOn: true if more entries are likely: then they are read at the same time.
  func settle(_ batch: CommitBatch, _ shard: WorkerShard, _ ownership: ShardOwnership, _ loop: WorkerLoop, readsOn: Bool) async throws
    -> ReadEntries?
  {
    guard ownership.form == .owned else {
      try await settlement.commit(batch, as: .consumer(name))
      shard.leases = []
      return nil
    }
    guard readsOn, !isStopping, shard.mayContinue, loop.backpressure.tryReserve(pace.batchSize) else {
      return try await settlement.commit(batch, as: .owner(ownership), group: loop.group) == 0 ? ReadEntries(.null) : nil
    }
    async let following = entries(of: shard.shard, after: batch.position)
    do {
      let remaining = try await settlement.commit(batch, as: .owner(ownership), group: loop.group)
      let read = try await following
      loop.backpressure.release(pace.batchSize - read.count)
      // Redis may read before it settles. A message that is accepted between these two steps was not read, and was not announced, because
      // the stream was not empty. Only `remaining` shows it.
      return read.count == 0 && remaining > 0 ? nil : read
    } catch {
      loop.backpressure.release(pace.batchSize)
      throw error
    }
  }
}
