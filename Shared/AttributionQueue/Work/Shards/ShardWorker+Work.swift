import RedisClient

/// The work of a shard: its messages are taken, handled in their order and settled, until the stream is empty.
///
/// accept.lua announces a message if its stream was empty before, ``ShardSubscriptions`` receives the announcement and wakes the shard here.
/// The handler of the intake is `VerificationWorker.handle` of verifier, and its joint handler for SKAdNetwork postbacks.
extension ShardWorker {
  func work(_ loop: WorkerLoop) async {
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

  /// Calls the handlers for the messages in order. It ends before the last message if the worker stops or a suspected message must be
  /// settled alone; the rest is then read again. Leased messages would not be read again, so they are given back when the worker stops.
  func handle(_ read: Read, _ shard: WorkerShard, _ ownership: ShardOwnership, _ loop: WorkerLoop) async throws -> CommitBatch {
    var batch = CommitBatch(queue, shard.shard, many: read.count, deliveries)
    var order = OrderCheck(queue, shard.shard, read.entries, deliveries)
    let isLeased = ownership.form == .leased
    let (entries, isSuspected) = try await self.entries(in: read, shard, ownership)
    var next = 0
    while next < entries.count {
      // The start of a suspected message is counted already.
      if isStopping && !isLeased && !isSuspected { break }
      await loop.slices?.pauseIfUsedUp()
      let started = ContinuousClock.now
      let joined = isSuspected || isStopping ? [] : joinedMessages(in: entries[next...])
      if let joint, joined.count > 1 {
        let outcomes = joint.outcomes(joined)
        precondition(outcomes.count == joined.count, "there is one outcome for each message")
        for (message, outcome) in zip(joined, outcomes) { await settlement.add(message, outcome, to: &batch, started: started) }
        next += joined.count
      } else {
        try await handle(
          entries[next], isSuspected: isSuspected, givesBack: isLeased && isStopping, in: &batch, &order, started: started)
        next += 1
      }
      let ended = ContinuousClock.now
      turned.withLock { $0 = ended }
      if let slices = loop.slices {
        slices.use(started.duration(to: ended))
      } else {
        await Task.yield()
      }
    }
    return batch
  }

  /// The messages at the beginning of the entries that may be handled together.
  private func joinedMessages(in entries: ArraySlice<Settlement.ReadEntry>) -> [LeasedMessage] {
    guard let joint else { return [] }
    var messages: [LeasedMessage] = []
    for entry in entries {
      guard let message = entry.message, message.span == nil, joint.accepts(message) else { break }
      if messages.isEmpty { messages.reserveCapacity(entries.count) }
      messages.append(message)
    }
    return messages
  }

  /// Handles one entry, and adds the outcome to the batch.
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

  /// Settles the batch: one atomic step claims the natural keys, publishes the events in the feed and removes the messages. For a ``PlainBatch``
  /// whose natural keys are new that is commit_plain.lua, or a transaction of the same effect; otherwise commit.lua. Returns the entries to
  /// work next, or nil if they must be read.
  ///
  /// - Parameter readsOn: true if more entries are likely: then they are read at the same time.
  func settle(_ batch: CommitBatch, _ shard: WorkerShard, _ ownership: ShardOwnership, _ loop: WorkerLoop, readsOn: Bool) async throws
    -> Read?
  {
    guard ownership.form == .owned else {
      try await settlement.commit(batch, as: .consumer(name))
      shard.leases = []
      return nil
    }
    guard readsOn, !isStopping, shard.isWanted, loop.backpressure.reserveAtOnce(pace.together) else {
      return try await settlement.commit(batch, as: .owner(ownership), group: loop.group) == 0 ? Read(.null) : nil
    }
    async let behind = entries(of: shard.shard, behind: batch.position)
    do {
      let left = try await settlement.commit(batch, as: .owner(ownership), group: loop.group)
      let read = try await behind
      loop.backpressure.release(pace.together - read.count)
      // Redis may read before it settles. A message that is accepted in between is in neither reply, and was not announced, because the stream
      // was not empty. Only `left` shows it.
      return read.count == 0 && left > 0 ? nil : read
    } catch {
      loop.backpressure.release(pace.together)
      throw error
    }
  }
}
