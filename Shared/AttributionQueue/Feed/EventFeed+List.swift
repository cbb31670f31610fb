import RedisClient

/// A page of the feed in the order of publication.
public struct FeedPage: Sendable {
  public let events: [StoredEvent]
  /// The cursor after which the next page begins; nil on the last page.
  public let next: FeedCursor?
  /// All events published before this time are in this page or an earlier one; milliseconds since 1970.
  public let reached: Int64
}

/// Reading events of a time range without a subscription.
extension EventFeed {
  /// The maximum number of rounds per page. A filter may exclude nearly everything, and a caller with a short deadline must get a response.
  private static let maxRounds = 8

  /// Events published from `start` on and before `end`, in the order of publication across all shards.
  ///
  /// - Parameters:
  ///   - types: event types; all when empty.
  ///   - end: milliseconds since 1970; limited to Redis' time, so that nothing can be published into the range later.
  ///   - cursor: ``FeedPage/next`` of the page before.
  public func list(
    types: [String], filter: FeedFilter, from start: Int64, until end: Int64?, after cursor: FeedCursor?, limit: Int
  ) async throws(EventFeedError) -> FeedPage {
    let now = try await earliestClock()
    let end = min(end ?? now, now)
    var (events, cursor): ([StoredEvent], FeedCursor?) = ([], cursor)
    guard end > start else { return FeedPage(events: [], next: nil, reached: end) }
    // list.lua makes every transaction fail that has read the time before and is not executed yet: the ids of its events would be earlier
    // than `now`.
    _ = try await run(Scripts.list, [Keys.eventsListed], [])
    for _ in 0..<Self.maxRounds {
      let round = try await round(from: start, until: end, after: cursor, count: max(4, limit / 100))
      for entry in round.entries {
        cursor = entry.cursor
        let attributes = entry.event.attributes ?? EventAttributes(describing: entry.event.json, type: entry.event.type)
        guard filter.wants(attributes, type: entry.event.type, types: types, names: names) else { continue }
        events.append(entry.event)
        if events.count == limit, let cursor { return FeedPage(events: events, next: cursor, reached: cursor.milliseconds) }
      }
      if round.isLast { return FeedPage(events: events, next: nil, reached: end) }
    }
    return FeedPage(events: events, next: cursor, reached: cursor?.milliseconds ?? start)
  }

  private struct Round {
    /// The events of all shards together, in their order.
    let entries: [(cursor: FeedCursor, event: StoredEvent)]
    /// True if no events of the range follow.
    let isLast: Bool
  }

  /// Reads up to `count` entries of each shard. If a shard may have more, events of any shard that follow its last entry are left for the
  /// next round, so that the order is that of all shards together.
  private func round(from start: Int64, until end: Int64, after cursor: FeedCursor?, count: Int) async throws(EventFeedError) -> Round {
    let parts = try await onAllShards { shard throws(EventFeedError) in
      Self.stored(
        try await self.send([
          "XRANGE", .string(Keys.events(shard)), .string(cursor?.start(in: shard) ?? String(start)), .string(String(end - 1)), "COUNT",
          .integer(Int64(count)),
        ]))
    }
    // The earliest last entry among the shards that may have more.
    var lastCursor: FeedCursor?
    var entries: [(cursor: FeedCursor, event: StoredEvent)] = []
    for (shard, events) in parts {
      entries += events.map { (FeedCursor(shard, $0.position.entry), $0) }
      guard events.count == count, let last = events.last else { continue }
      let cursor = FeedCursor(shard, last.position.entry)
      lastCursor = min(lastCursor ?? cursor, cursor)
    }
    entries.sort { $0.cursor < $1.cursor }
    guard let lastCursor else { return Round(entries: entries, isLast: true) }
    return Round(entries: Array(entries.prefix { $0.cursor <= lastCursor }), isLast: false)
  }

  /// The earliest clock of all primaries: every event that is published later has this time or a later one.
  private func earliestClock() async throws(EventFeedError) -> Int64 {
    let times: [Int64]
    do throws(RedisError) {
      times = try await redis.sendToEachPrimary(["TIME"]).compactMap { _, reply in
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].integer, let micros = parts[1].integer else { return nil }
        return seconds * 1000 + micros / 1000
      }
    } catch { throw .unavailable(error) }
    guard let earliest = times.min() else { throw .unavailable(.unexpectedReply("TIME")) }
    return earliest
  }
}
