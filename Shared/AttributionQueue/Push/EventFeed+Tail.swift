import RedisClient

/// The newest events of one shard, as the pusher reads them.
public struct FeedTail: Sendable {
  /// The time of the read, milliseconds since 1970. Events that are not in ``events`` yet get this publication time or a later one, except
  /// for those of a transaction that had chosen its ids before.
  public let time: Int64
  /// The position of the last of ``events``. If there are none, the position from which they were read, or that of the newest event if none
  /// was given.
  public let last: FeedPosition
  public let events: [StoredEvent]
}

extension EventFeed {
  /// The events of a shard after a position, and the time up to which they are complete; without a position only the time.
  public func tail(_ shard: Shard, after position: FeedPosition?, limit: Int) async throws(EventFeedError) -> FeedTail {
    let reply = try await run(
      Scripts.tail, [Keys.events(shard)], [.string(position?.entry.text ?? "$"), .integer(Int64(limit))])
    guard let parts = reply.array, parts.count == 3, let time = parts[0].integer, let last = parts[1].string.flatMap({ EntryID($0) })
    else { throw .unavailable(.unexpectedReply("tail")) }
    return FeedTail(time: time, last: FeedPosition(entry: last), events: Self.stored(parts[2]))
  }

  /// The tails of several shards, pipelined.
  public func tails(_ positions: [(shard: Shard, after: FeedPosition?)], limit: Int) async throws(EventFeedError) -> [(Shard, FeedTail)] {
    let after = Dictionary(uniqueKeysWithValues: positions.map { ($0.shard, $0.after) })
    return try await on(positions.map(\.shard)) { shard throws(EventFeedError) in
      try await self.tail(shard, after: after[shard] ?? nil, limit: limit)
    }
  }

  /// The events of several shards after their positions, at most `limit` of each. Unlike ``tails(_:limit:)``, this needs no script, because
  /// it does not read the time up to which the events are complete.
  public func events(after positions: [(shard: Shard, position: FeedPosition)], limit: Int) async throws(EventFeedError) -> [(
    Shard, [StoredEvent]
  )] {
    let after = Dictionary(uniqueKeysWithValues: positions.map { ($0.shard, $0.position) })
    return try await on(positions.map(\.shard)) { shard throws(EventFeedError) in
      let start = after[shard]?.entry.text ?? "0-0"
      return Self.stored(
        try await self.send(["XRANGE", .string(Keys.events(shard)), .string("(" + start), "+", "COUNT", .integer(Int64(limit))]))
    }
  }

  /// The events at these positions; nil for events that are deleted.
  public func events(at positions: [(shard: Shard, position: FeedPosition)]) async throws(EventFeedError) -> [StoredEvent?] {
    let results = await withTaskGroup(of: (Int, Result<StoredEvent?, EventFeedError>).self) { group in
      for (index, location) in positions.enumerated() {
        group.addTask {
          do throws(EventFeedError) {
            let text = location.position.entry.text
            let reply = try await self.send(["XRANGE", .string(Keys.events(location.shard)), .string(text), .string(text)])
            return (index, .success(Self.stored(reply).first))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      var all = [Result<StoredEvent?, EventFeedError>](repeating: .success(nil), count: positions.count)
      for await (index, result) in group { all[index] = result }
      return all
    }
    var events: [StoredEvent?] = []
    for result in results { events.append(try result.get()) }
    return events
  }
}
