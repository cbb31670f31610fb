import RedisClient

/// Pulled subscriptions: leasing and acknowledging events. A pulled subscription is a consumer group on the event stream of each shard,
/// with the subscription's name; pull.lua leases the events of one shard.
extension EventFeed {
  /// The maximum number of unwanted events that one call of pull.lua skips, because a script blocks Redis.
  private static let maxSkippedPerStep: Int64 = 500
  /// The maximum number of leases per shard of a subscription that keeps the order of subjects: pull.lua examines all of them.
  static let orderedLeases: Int64 = 64
  /// The number of shards that are queried concurrently. Subscriptions that keep order use fewer, so that each shard returns more events:
  /// later events of a subject can be leased only after the earlier ones were acknowledged, or in the same call.
  private static let (concurrentShards, concurrentShardsInOrder) = (32, 8)
  /// If more quiet shards than this have new events, all shards are pulled until they are quiet again.
  static let maxChanged = 64

  /// Leases up to `limit` events, and waits up to `wait` for the first.
  public func pull(_ name: String, limit: Int, wait: Duration, lease: Duration) async throws(EventFeedError) -> [FeedEvent] {
    let until = ContinuousClock.now + wait
    var pause: Duration = .milliseconds(20)
    while true {
      // The subscription is read in each round: it may be set to another position meanwhile.
      guard let subscription = try await subscription(name) else {
        quietShards.discard(name)
        throw .unknownSubscription
      }
      guard subscription.push == nil else { throw .isPushed }
      let quiet = quietShards.positions(of: subscription)
      let shards = try await promisingShards(quiet, of: name)
      let events = try await sweep(subscription, shards, quiet, limit: limit, lease: lease)
      if !events.isEmpty || ContinuousClock.now + pause > until { return events }
      do { try await Task.sleep(for: pause) } catch { return [] }
      pause = min(pause * 2, .milliseconds(160))
    }
  }

  /// Acknowledges events; returns how many of them were leased.
  public func acknowledge(_ name: String, ackIds: [String]) async throws(EventFeedError) -> Int {
    try await each(name, ackIds) { shard, ids throws(EventFeedError) in
      let entries = ids.map { RedisArgument.string($0.entry.text) }
      return try await self.send(["XACK", .string(Keys.events(shard)), .string(name)] + entries).integer ?? 0
    }
  }

  /// Renews the leases of events from now on, or gives the events back if `lease` is zero. Returns how many were leased. If another reader
  /// has leased an event since, its lease is not changed.
  public func modifyLease(_ name: String, ackIds: [String], lease: Duration) async throws(EventFeedError) -> Int {
    try await each(name, ackIds) { shard, ids throws(EventFeedError) in
      let leases = ids.flatMap { [RedisArgument.string($0.entry.text), .string($0.lease.map(String.init) ?? "")] }
      return try await self.run(
        Scripts.modifyLease, [Keys.events(shard)], [.string(name), .integer(lease.milliseconds)] + leases, isDurable: true
      ).integer.map { max(0, $0) } ?? 0
    }
  }

  // MARK: Helpers

  /// Calls `act` for the ids of each shard, and returns the sum of the results. Ids of an earlier generation are ignored.
  private func each(
    _ name: String, _ ackIds: [String], _ act: @escaping @Sendable (Shard, [AckID]) async throws(EventFeedError) -> Int64
  ) async throws(EventFeedError) -> Int {
    guard let subscription = try await subscription(name) else { throw .unknownSubscription }
    guard subscription.push == nil else { throw .isPushed }
    var byShard: [Shard: [AckID]] = [:]
    for id in ackIds.lazy.compactMap({ AckID($0) }) where id.generation == subscription.generation {
      byShard[id.shard, default: []].append(id)
    }
    let ids = byShard
    let counts = try await on(Array(ids.keys)) { shard throws(EventFeedError) in try await act(shard, ids[shard] ?? []) }
    return Int(counts.reduce(0) { $0 + $1.1 })
  }

  /// The shards in which a pull may find an event.
  private func promisingShards(_ quiet: QuietShards.Positions, of name: String) async throws(EventFeedError) -> [Shard] {
    guard !quiet.byShard.isEmpty else { return Shard.all }
    let changed = try await shards(withEventsAfter: quiet.byShard)
    if changed.count > Self.maxChanged {
      // On a busy feed, the query costs more than it saves: it returns an event of each of these shards.
      quietShards.discard(name)
    } else {
      quietShards.remove(changed, from: quiet)
    }
    return Shard.all.filter { quiet.byShard[$0] == nil || changed.contains($0) }
  }

  /// The shards that have events after these positions, and those whose node does not answer.
  private func shards(withEventsAfter positions: [Shard: EntryID]) async throws(EventFeedError) -> Set<Shard> {
    @Sendable func changed(_ shards: [Shard]) async throws(EventFeedError) -> Set<Shard> {
      let keys = shards.map { RedisArgument.string(Keys.events($0)) }
      let ids = shards.map { RedisArgument.string((positions[$0] ?? .greatest).text) }
      let reply: RedisReply
      do throws(RedisError) {
        reply = try await redis.send(["XREAD", "COUNT", "1", "STREAMS"] + keys + ids, name: "XREAD events")
      } catch {
        // If Redis refuses this command, pull.lua may still be allowed in each shard.
        if case .refused = error { return Set(shards) }
        throw .unavailable(error)
      }
      // Null, or a list of {stream, entries}.
      return Set((reply.array ?? []).compactMap { $0.array?.first?.string.flatMap(Keys.shard(of:)) })
    }
    let shards = Array(positions.keys)
    guard redis.isCluster else { return try await changed(shards) }
    // The streams of a cluster are in different slots.
    let replies = await results(of: shards) { shard throws(EventFeedError) in try await changed([shard]) }
    return Set(replies.filter { (try? $0.1.get())?.isEmpty != true }.map(\.0))
  }

  /// Pulls from the candidates, some at a time, until `limit` events are found or a whole round finds none.
  private func sweep(
    _ subscription: EventSubscription, _ candidates: [Shard], _ quiet: QuietShards.Positions, limit: Int, lease: Duration
  ) async throws(EventFeedError) -> [FeedEvent] {
    guard !candidates.isEmpty else { return [] }
    var events: [FeedEvent] = []
    // The first shard varies, so that no shard is always last.
    let start = Int.random(in: 0..<candidates.count)
    var offset = 0
    var foundThisRound = false
    while events.count < limit {
      if offset >= candidates.count {
        guard foundThisRound else { break }
        offset = 0
        foundThisRound = false
      }
      let left = limit - events.count
      let count = min(subscription.isOrdered ? Self.concurrentShardsInOrder : Self.concurrentShards, left, candidates.count - offset)
      let shards = (offset..<offset + count).map { candidates[(start + $0) % candidates.count] }
      offset += count
      let (found, mayHaveMore): ([FeedEvent], Bool)
      do throws(EventFeedError) {
        (found, mayHaveMore) = try await pull(subscription, from: shards, quiet, each: left / count, lease: lease)
      } catch {
        guard !events.isEmpty else { throw error }
        return events
      }
      if !found.isEmpty || mayHaveMore { foundThisRound = true }
      events += found
    }
    return events
  }

  /// Pulls up to `each` events from each of the shards. `mayHaveMore`: true if a shard has skipped as many unwanted events as one step may.
  private func pull(
    _ subscription: EventSubscription, from shards: [Shard], _ quiet: QuietShards.Positions, each: Int, lease: Duration
  ) async throws(EventFeedError) -> (events: [FeedEvent], mayHaveMore: Bool) {
    let arguments: [RedisArgument] = [
      .string(subscription.name), .integer(lease.milliseconds), .integer(Int64(each)), .integer(Self.maxSkippedPerStep),
      .bytes(subscription.filter.packed(types: subscription.types, names: names)),
      .integer(subscription.isOrdered ? Self.orderedLeases : 0),
    ]
    let replies = await results(of: shards) { shard throws(EventFeedError) in
      // The event must be on replicas before it is handed out: if a failover lost it, its delivery would be worked again and its event
      // handed out twice.
      try await self.run(Scripts.pull, [Keys.events(shard)], arguments, isDurable: true)
    }
    // Older builds, which run only in the first form, cannot read ids that name the lease.
    let idsNameLease = (try? await deliveries.form).map { $0 >= .owned } ?? false
    var events: [FeedEvent] = []
    var mayHaveMore = false
    var failure: EventFeedError?
    for (shard, result) in replies {
      let reply: RedisReply
      do throws(EventFeedError) { reply = try result.get() } catch {
        failure = error
        continue
      }
      if reply.integer == -1 {
        // The consumer group is missing, because data was lost or its creation was interrupted. In the new group, all events count as new.
        _ = try await sendAllowingErrors(["XGROUP", "CREATE", .string(Keys.events(shard)), .string(subscription.name), "0", "MKSTREAM"])
        continue
      }
      let parts = reply.array ?? []
      if parts.first?.integer == 1 { mayHaveMore = true }
      if parts.count > 2, let last = parts[2].string.flatMap({ EntryID($0) }) { quietShards.add(shard, last: last, to: quiet) }
      for item in parts.dropFirst().first?.array ?? [] {
        guard let parts = item.array, parts.count == 3, let entry = parts[0].string.flatMap({ EntryID($0) }), let json = parts[1].bytes
        else { continue }
        let lease = idsNameLease ? parts[2].integer.map { Int($0) } : nil
        events.append(FeedEvent(ackId: AckID(shard, entry, generation: subscription.generation, lease: lease).text, json: json))
      }
    }
    // The events of the other shards are leased already, so they must be returned.
    if let failure, events.isEmpty { throw failure }
    return (events, mayHaveMore)
  }
}
