import RedisClient

/// Subscriptions that are pulled: events under leases.
extension EventFeed {
  /// Events that are not wanted and that one step passes by: Redis does nothing else meanwhile.
  private static let passedAtOnce: Int64 = 500
  /// Leases that a subscription which keeps the order of subjects may have in one shard: each is looked at when one is asked for.
  static let orderedLeases: Int64 = 64
  /// Shards asked side by side in one round. Where order is kept fewer, so that each is asked for more: what follows comes only when that
  /// was acknowledged.
  private static let (sideBySide, sideBySideInOrder) = (32, 8)

  /// Takes up to `most` events under a lease, waiting for a first one up to `wait`.
  public func pull(_ name: String, most: Int, wait: Duration, lease: Duration) async throws(EventFeedError) -> [FeedEvent] {
    let until = ContinuousClock.now + wait
    var pause: Duration = .milliseconds(20)
    while true {
      // Asked for anew each time: it may be set to another place while this waits.
      guard let subscription = try await subscription(name) else { throw .unknownSubscription }
      guard subscription.push == nil else { throw .isPushed }
      let events = try await sweep(subscription, most: most, lease: lease)
      if !events.isEmpty || ContinuousClock.now + pause > until { return events }
      do { try await Task.sleep(for: pause) } catch { return [] }
      pause = min(pause * 2, .milliseconds(160))
    }
  }

  /// Says that events were dealt with; answers how many of them were waiting for it.
  public func acknowledge(_ name: String, ackIds: [String]) async throws(EventFeedError) -> Int {
    try await each(name, ackIds) { shard, ids throws(EventFeedError) in
      try await self.send(["XACK", .string(Keys.events(shard)), .string(name)] + ids).integer ?? 0
    }
  }

  /// Gives events a lease from now on, or gives them back, to be handed out at once, where it is zero; answers how many were leased.
  public func modifyLease(_ name: String, ackIds: [String], lease: Duration) async throws(EventFeedError) -> Int {
    try await each(name, ackIds) { shard, ids throws(EventFeedError) in
      try await self.run(
        Scripts.modifyLease, [Keys.events(shard)], [.string(name), .integer(lease.milliseconds)] + ids, isDurable: true
      ).integer.map { max(0, $0) } ?? 0
    }
  }

  // MARK: Pieces

  private func each(
    _ name: String, _ ackIds: [String], _ act: @escaping @Sendable (Shard, [RedisArgument]) async throws(EventFeedError) -> Int64
  ) async throws(EventFeedError) -> Int {
    guard let subscription = try await subscription(name) else { throw .unknownSubscription }
    guard subscription.push == nil else { throw .isPushed }
    var byShard: [Shard: [RedisArgument]] = [:]
    for id in ackIds.lazy.compactMap({ AckID($0) }) where id.generation == subscription.generation {
      byShard[id.shard, default: []].append(.string(id.entry.text))
    }
    let ids = byShard
    let counts = try await on(Array(ids.keys)) { shard throws(EventFeedError) in try await act(shard, ids[shard] ?? []) }
    return Int(counts.reduce(0) { $0 + $1.1 })
  }

  private func sweep(_ subscription: EventSubscription, most: Int, lease: Duration) async throws(EventFeedError) -> [FeedEvent] {
    var events: [FeedEvent] = []
    // Where a sweep begins differs, so that no shard is always last.
    let start = Int.random(in: 0..<Shard.count)
    var offset = 0
    var foundThisRound = false
    while events.count < most {
      if offset >= Shard.count {
        guard foundThisRound else { break }
        offset = 0
        foundThisRound = false
      }
      let left = most - events.count
      let count = min(subscription.isOrdered ? Self.sideBySideInOrder : Self.sideBySide, left, Shard.count - offset)
      let shards = (offset..<offset + count).map { Shard((start + $0) % Shard.count) }
      offset += count
      let (found, mayHaveMore): ([FeedEvent], Bool)
      do throws(EventFeedError) {
        (found, mayHaveMore) = try await pull(subscription, from: shards, each: left / count, lease: lease)
      } catch {
        guard !events.isEmpty else { throw error }
        return events
      }
      if !found.isEmpty || mayHaveMore { foundThisRound = true }
      events += found
    }
    return events
  }

  private func pull(_ subscription: EventSubscription, from shards: [Shard], each: Int, lease: Duration)
    async throws(EventFeedError) -> (events: [FeedEvent], mayHaveMore: Bool)
  {
    let arguments: [RedisArgument] = [
      .string(subscription.name), .integer(lease.milliseconds), .integer(Int64(each)), .integer(Self.passedAtOnce),
      .bytes(subscription.filter.packed(types: subscription.types, names: names)),
      .integer(subscription.isOrdered ? Self.orderedLeases : 0),
    ]
    let answers = await results(of: shards) { shard throws(EventFeedError) in
      // An event that was handed out must not be undone by the loss of a host: its delivery would be judged, and handed out, again.
      try await self.run(Scripts.pull, [Keys.events(shard)], arguments, isDurable: true)
    }
    var events: [FeedEvent] = []
    var mayHaveMore = false
    var failure: EventFeedError?
    for (shard, result) in answers {
      let reply: RedisReply
      do throws(EventFeedError) { reply = try result.get() } catch {
        failure = error
        continue
      }
      if reply.integer == -1 {
        // The group is gone (data was lost or never made whole): what there is counts as new.
        _ = try await allowing(["XGROUP", "CREATE", .string(Keys.events(shard)), .string(subscription.name), "0", "MKSTREAM"])
        continue
      }
      if reply.array?.first?.integer == 1 { mayHaveMore = true }
      for item in reply.array?.last?.array ?? [] {
        guard let parts = item.array, parts.count == 2, let entry = parts[0].string.flatMap({ EntryID($0) }), let json = parts[1].bytes
        else { continue }
        events.append(FeedEvent(ackId: AckID(shard, entry, generation: subscription.generation).text, json: json))
      }
    }
    // Those of other shards are leased by now.
    if let failure, events.isEmpty { throw failure }
    return (events, mayHaveMore)
  }
}
