import RedisClient

/// Reading messages of a shard.
extension ShardWorker {
  /// Entries of a shard that were read and not worked yet.
  struct Read {
    let entries: RedisReply.Elements
    /// True if it is the announcement of a message, which may have been settled since.
    let isAnnounced: Bool

    init(_ entries: RedisReply) {
      // Detached from the buffer of the whole reply.
      self.entries = entries.detached.elements
      isAnnounced = false
    }

    /// Reads an announcement of accept.lua; nil if it does not hold a message.
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

  func readNext(_ shard: WorkerShard, _ ownership: ShardOwnership, behind last: EntryID, _ loop: WorkerLoop) async throws -> Read {
    await loop.backpressure.reserve(pace.together)
    do {
      let read: Read
      if ownership.form == .leased {
        read = try await lease(shard)
      } else {
        read = try await entries(of: shard.shard, behind: last)
      }
      loop.backpressure.release(pace.together - read.count)
      return read
    } catch {
      loop.backpressure.release(pace.together)
      throw error
    }
  }

  func entries(of shard: Shard, behind last: EntryID) async throws(QueueError) -> Read {
    Read(
      try await deliveries.send([
        "XRANGE", .string(Keys.ready(queue, shard)), .string("(" + last.text), "+", "COUNT", .integer(Int64(pace.together)),
      ]))
  }

  /// Leases the next messages: first those with an expired lease, then new ones.
  private func lease(_ shard: WorkerShard) async throws -> Read {
    hasLeased.withLock { $0 = true }
    let (limit, asked) = (pace.together, ContinuousClock.now)
    var read = Read(.null)
    if asked >= shard.nextReclaim {
      let (entries, leased) = try await consumer.reclaim(shard.shard, limit: limit)
      read = Read(entries)
      // If nothing is leased, no lease can expire before one lease duration has passed.
      let lease = deliveries.configuration.lease
      if read.count < limit { shard.nextReclaim = asked + (leased == 0 ? lease : min(lease / 2, .seconds(5))) }
      if read.count > 0 { settlement.observe(.reclaimed(read.count)) }
    }
    if read.count == 0 { read = Read(try await consumer.lease(shard.shard, limit: limit)) }
    shard.leases = read.leases
    return read
  }

  /// Reads the entries. A suspected one is returned alone: if the worker crashes on it, it is the first message left in the stream.
  func entries(in read: Read, _ shard: WorkerShard, _ ownership: ShardOwnership) async throws
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
}
