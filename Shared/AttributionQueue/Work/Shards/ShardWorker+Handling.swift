import RedisClient

/// Handling and settling the messages that were read.
extension ShardWorker {
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

  /// Reads the entries. A suspected one is returned alone: if the worker crashes on it, it is the first message left in the stream.
  private func entries(in read: Read, _ shard: WorkerShard, _ ownership: ShardOwnership) async throws
    -> (entries: [Settlement.ReadEntry], isSuspected: Bool)
  {
    let consumer = ownership.form == .leased ? name : ""
    var entries: [Settlement.ReadEntry] = []
    entries.reserveCapacity(read.count)
    var kind = ""
    for entry in read.entries {
      var parts = entry.elements
      guard let id = parts.nextString(), let fields = parts.next() else { throw QueueError.unavailable(.unexpectedReply("XRANGE")) }
      let begun = parts.nextInteger() ?? 1
      if let until = shard.suspectedUntil, let entry = EntryID(id) {
        if entry > until {
          shard.clearSuspicion()
          _ = try await deliveries.send(["HDEL", .string(Keys.suspects(queue, shard.shard)), "until"])
        } else {
          guard entries.isEmpty, !isStopping else { break }
          let begun = try await count(id, shard.shard, ownership)
          return ([settlement.read(id, fields, begun: begun, consumer: consumer, shard: shard.shard)], true)
        }
      }
      let read = settlement.read(id, fields, begun: begun, consumer: consumer, kindBefore: kind, shard: shard.shard)
      if let message = read.message { kind = message.message.kind }
      entries.append(read)
    }
    return (entries, false)
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

  /// Counts a start of a suspected message, and returns how often it was started, including the start by the owner that crashed.
  private func count(_ entry: String, _ shard: Shard, _ ownership: ShardOwnership) async throws(QueueError) -> Int64 {
    let reply = try await deliveries.run(
      Scripts.suspect, [Keys.ownership(queue, shard), Keys.suspects(queue, shard)], [.string(ownership.text), .string(entry)])
    guard let count = reply.integer else { throw .unavailable(.unexpectedReply("suspect")) }
    guard count > 0 else { throw .leaseLost }
    return count + 1
  }

  /// Settles the batch. Returns the entries to work next, or nil if they must be read.
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
      // Redis may read before it settles. A message that is accepted in between is in neither result and not announced, because the stream
      // was not empty: only the number of messages left shows it.
      return read.count == 0 && left > 0 ? nil : read
    } catch {
      loop.backpressure.release(pace.together)
      throw error
    }
  }

  /// Settles a batch again after its commit got no reply. The shard is taken under a new epoch first, so that the unanswered commit is
  /// refused if it arrives later. Returns nil if the shard must be read from its beginning.
  func settleAgain(_ batch: CommitBatch, _ shard: WorkerShard, _ before: ShardOwnership, _ loop: WorkerLoop) async throws -> Read? {
    await takeAgain(shard, before)
    guard let ownership = shard.ownership, ownership.form == before.form else {
      batch.endSpans(.leaseLost)
      return nil
    }
    // In the leased form no check is needed: if the first commit was done, the leases are gone and the second changes nothing.
    if ownership.form == .owned, try await !isThere(batch, shard.shard) {
      batch.endSpans(.leaseLost)
      return nil
    }
    return try await settle(batch, shard, ownership, loop, readsOn: false)
  }

  /// True if all messages of the batch are still in the stream, so the first commit was not executed.
  private func isThere(_ batch: CommitBatch, _ shard: Shard) async throws(QueueError) -> Bool {
    let reply = try await deliveries.send([
      "XRANGE", .string(Keys.ready(queue, shard)), "-", .string(batch.position.text), "COUNT", .integer(Int64(batch.works.count + 1)),
    ])
    return reply.elements.compactMap { entry in
      var parts = entry.elements
      return parts.nextString()
    } == batch.works.map(\.entryID)
  }
}
