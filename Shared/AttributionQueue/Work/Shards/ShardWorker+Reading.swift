import RedisClient

/// Reading the ready stream of a shard.
extension ShardWorker {
  /// Entries of a shard that were read and not handled yet.
  struct ReadEntries {
    let entries: RedisReply.Elements
    /// True if this is one message that accept.lua announced, and that was not read from the stream. It may have been settled since.
    let isAnnounced: Bool

    init(_ entries: RedisReply) {
      // Copied, so that they do not keep the buffer of the whole reply in memory.
      self.entries = entries.detached.elements
      isAnnounced = false
    }

    /// Reads an announcement of accept.lua; nil if it contains no message.
    init?(announcement: [UInt8]) {
      guard !announcement.isEmpty, let entries = RedisReply(parsing: announcement)?.elements, entries.underestimatedCount == 1 else {
        return nil
      }
      self.entries = entries
      isAnnounced = true
    }

    var count: Int { entries.underestimatedCount }

    /// The id of the first entry; nil if it cannot be read.
    var firstID: EntryID? { entries.first { _ in true }?.elements.first { _ in true }?.string.flatMap(EntryID.init) }

    /// The leases of the entries, in ``StoreForm/leased``.
    var leases: [LeaseToken] {
      entries.compactMap { entry in
        var parts = entry.elements
        guard let id = parts.nextString() else { return nil }
        parts.skip()
        return LeaseToken(entryID: id, deliveryCount: parts.nextInteger() ?? 1)
      }
    }
  }

  /// Reads the next entries of a shard. Waits until the messages that may be read have a reservation (``ReadBackpressure``).
  func readNext(_ shard: WorkerShard, _ ownership: ShardOwnership, after last: EntryID, _ loop: WorkerLoop) async throws -> ReadEntries {
    await loop.backpressure.reserve(pace.batchSize)
    do {
      let read: ReadEntries
      if ownership.form == .leased {
        read = try await lease(shard)
      } else {
        read = try await entries(of: shard.shard, after: last)
      }
      loop.backpressure.release(pace.batchSize - read.count)
      return read
    } catch {
      loop.backpressure.release(pace.batchSize)
      throw error
    }
  }

  /// The entries of an owned shard after the given one.
  func entries(of shard: Shard, after last: EntryID) async throws(QueueError) -> ReadEntries {
    ReadEntries(
      try await deliveries.send([
        "XRANGE", .string(Keys.ready(queue, shard)), .string("(" + last.text), "+", "COUNT", .integer(Int64(pace.batchSize)),
      ]))
  }

  /// Leases the next messages: first those with an expired lease, then new ones.
  private func lease(_ shard: WorkerShard) async throws -> ReadEntries {
    hasLeased.withLock { $0 = true }
    let (limit, queriedAt) = (pace.batchSize, ContinuousClock.now)
    var read = ReadEntries(.null)
    if queriedAt >= shard.nextReclaim {
      let (entries, leased) = try await consumer.reclaim(shard.shard, limit: limit)
      read = ReadEntries(entries)
      // If nothing is leased, no lease can expire before one lease duration has passed.
      let lease = deliveries.configuration.lease
      if read.count < limit { shard.nextReclaim = queriedAt + (leased == 0 ? lease : min(lease / 2, .seconds(5))) }
      if read.count > 0 { settlement.observe(.reclaimed(read.count)) }
    }
    if read.count == 0 { read = ReadEntries(try await consumer.lease(shard.shard, limit: limit)) }
    shard.leases = read.leases
    return read
  }

  /// The messages in the entries. If a start of the first must be counted, because a former owner may have crashed on it, only that one is
  /// returned: if this worker crashes on it too, it is the first message left in the stream, and the next owner counts it again.
  func entries(in read: ReadEntries, _ shard: WorkerShard, _ ownership: ShardOwnership) async throws
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
          let begun = try await countStart(of: id, shard.shard, ownership)
          return ([settlement.read(id, fields, begun: begun, consumer: consumer, shard: shard.shard)], true)
        }
      }
      let read = settlement.read(id, fields, begun: begun, consumer: consumer, kindBefore: kind, shard: shard.shard)
      if let message = read.message { kind = message.message.kind }
      entries.append(read)
    }
    return (entries, false)
  }
}
