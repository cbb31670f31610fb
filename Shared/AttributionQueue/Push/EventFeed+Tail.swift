import RedisClient

/// The tail of one shard's events, as the pusher reads it.
public struct FeedTail: Sendable {
  /// Later events have this publication time or a later one, apart from those of a transaction that was being executed; milliseconds since
  /// 1970.
  public let time: Int64
  /// The position of the last event read; without events, the position of the newest event.
  public let last: FeedPosition
  public let events: [StoredEvent]
}

extension EventFeed {
  /// The events of a shard after a position, and the time up to which they are complete; without a position only the time.
  public func tail(_ shard: Shard, after place: FeedPosition?, limit: Int) async throws(EventFeedError) -> FeedTail {
    let reply = try await run(
      Scripts.tail, [Keys.events(shard)], [.string(place?.entry.text ?? "$"), .integer(Int64(limit))])
    guard let parts = reply.array, parts.count == 3, let time = parts[0].integer, let last = parts[1].string.flatMap({ EntryID($0) })
    else { throw .unavailable(.unexpectedReply("tail")) }
    return FeedTail(time: time, last: FeedPosition(entry: last), events: Self.stored(parts[2]))
  }

  /// The tails of several shards, pipelined.
  public func tails(_ places: [(shard: Shard, after: FeedPosition?)], limit: Int) async throws(EventFeedError) -> [(Shard, FeedTail)] {
    let after = Dictionary(uniqueKeysWithValues: places.map { ($0.shard, $0.after) })
    return try await on(places.map(\.shard)) { shard throws(EventFeedError) in
      try await self.tail(shard, after: after[shard] ?? nil, limit: limit)
    }
  }

  /// The events of several shards after their positions, at most `limit` of each. Without the time up to which they are complete, no script
  /// is needed.
  public func events(behind places: [(shard: Shard, place: FeedPosition)], limit: Int) async throws(EventFeedError) -> [(
    Shard, [StoredEvent]
  )] {
    let after = Dictionary(uniqueKeysWithValues: places.map { ($0.shard, $0.place) })
    return try await on(places.map(\.shard)) { shard throws(EventFeedError) in
      let place = after[shard]?.entry.text ?? "0-0"
      return Self.stored(
        try await self.send(["XRANGE", .string(Keys.events(shard)), .string("(" + place), "+", "COUNT", .integer(Int64(limit))]))
    }
  }

  /// The events at these positions; nil for events that are deleted.
  public func events(at places: [(shard: Shard, place: FeedPosition)]) async throws(EventFeedError) -> [StoredEvent?] {
    let results = await withTaskGroup(of: (Int, Result<StoredEvent?, EventFeedError>).self) { group in
      for (index, place) in places.enumerated() {
        group.addTask {
          do throws(EventFeedError) {
            let text = place.place.entry.text
            let reply = try await self.send(["XRANGE", .string(Keys.events(place.shard)), .string(text), .string(text)])
            return (index, .success(Self.stored(reply).first))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      var all = [Result<StoredEvent?, EventFeedError>](repeating: .success(nil), count: places.count)
      for await (index, result) in group { all[index] = result }
      return all
    }
    var events: [StoredEvent?] = []
    for result in results { events.append(try result.get()) }
    return events
  }
}
