import RedisClient

/// What a worker does after the former owner of a shard has crashed, and after a commit that got no reply.
extension ShardWorker {
  /// Counts a start of a message on which a former owner may have crashed (suspect.lua). Returns how often the message was started,
  /// including the start by the owner that crashed, which was not counted.
  func countStart(of entry: String, _ shard: Shard, _ ownership: ShardOwnership) async throws(QueueError) -> Int64 {
    let reply = try await deliveries.run(
      Scripts.suspect, [Keys.ownership(queue, shard), Keys.suspects(queue, shard)], [.string(ownership.text), .string(entry)])
    guard let count = reply.integer else { throw .unavailable(.unexpectedReply("suspect")) }
    guard count > 0 else { throw .leaseLost }
    return count + 1
  }

  /// Settles a batch again after its commit got no reply. The shard is taken under a new epoch first, so that Redis refuses the first
  /// commit if it arrives later. Returns the entries to handle next, or nil if the shard must be read from its beginning.
  func settleAgain(_ batch: CommitBatch, _ shard: WorkerShard, _ before: ShardOwnership, _ loop: WorkerLoop) async throws
    -> ReadEntries?
  {
    await takeAgain(shard, before)
    guard let ownership = shard.ownership, ownership.form == before.form else {
      batch.endSpans(.leaseLost)
      return nil
    }
    // In the leased form no check is needed: if the first commit was executed, the leases have ended, and the second commit changes
    // nothing.
    if ownership.form == .owned, try await !isUnsettled(batch, shard.shard) {
      batch.endSpans(.leaseLost)
      return nil
    }
    return try await settle(batch, shard, ownership, loop, readsOn: false)
  }

  /// True if all messages of the batch are still the first of the stream, because the first commit was not executed.
  private func isUnsettled(_ batch: CommitBatch, _ shard: Shard) async throws(QueueError) -> Bool {
    let reply = try await deliveries.send([
      "XRANGE", .string(Keys.ready(queue, shard)), "-", .string(batch.position.text), "COUNT", .integer(Int64(batch.entries.count + 1)),
    ])
    return reply.elements.compactMap { entry in
      var parts = entry.elements
      return parts.nextString()
    } == batch.entries.map(\.entryID)
  }
}
