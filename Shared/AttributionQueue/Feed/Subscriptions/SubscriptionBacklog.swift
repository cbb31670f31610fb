/// The unacknowledged events of a subscription.
struct SubscriptionBacklog: Sendable, Hashable {
  /// The number of unacknowledged events.
  var events: Int64 = 0
  /// When the oldest event was published, milliseconds since 1970; nil if there is none.
  var oldest: Int64?
  /// The number of lost events.
  var dropped: Int64 = 0
  /// The number of unacknowledged events by shard.
  var byShard: [Shard: Int64] = [:]

  mutating func add(_ shard: Shard, events: Int64, oldest: Int64?, dropped: Int64) {
    self.events += events
    self.dropped += dropped
    if events > 0 { byShard[shard] = events }
    if let oldest { self.oldest = min(self.oldest ?? oldest, oldest) }
  }

  /// Distributes a number of events over the shards in proportion to their backlogs.
  func shares(of excess: Int64) -> [(shard: Shard, events: Int64)] {
    var (remaining, total) = (excess, byShard.values.reduce(0, +))
    return byShard.sorted { $0.value > $1.value }.compactMap { shard, events in
      let share = min(remaining, Int64((Double(remaining) * Double(events) / Double(total)).rounded(.up)))
      remaining -= share
      total -= events
      return share > 0 ? (shard, share) : nil
    }
  }

  /// The age of the oldest event; nil if there is none.
  func ageSeconds(at now: Int64) -> Double? { oldest.map { Double(max(0, now - $0)) / 1000 } }
}

extension EventSubscription {
  /// The subscription with the counts of its backlog.
  func with(_ backlog: SubscriptionBacklog) -> EventSubscription {
    var subscription = self
    subscription.backlog = backlog.events
    subscription.oldestAgeSeconds = backlog.ageSeconds(at: DeliveryQueue.now)
    subscription.dropped = backlog.dropped
    return subscription
  }
}

extension EventFeed {
  /// The backlogs of all subscriptions by their names, or of one subscription (backlog.lua).
  func backlogs(of name: String = "") async throws(EventFeedError) -> [String: SubscriptionBacklog] {
    let replies = try await onAllShards { shard throws(EventFeedError) in
      try await self.run(
        Scripts.backlog,
        [Keys.events(shard), Keys.eventPositions(shard), Keys.droppedEvents(shard), Keys.unsettledEvents(shard)], [.string(name)])
    }
    var found: [String: SubscriptionBacklog] = [:]
    for (shard, reply) in replies {
      for item in reply.array ?? [] {
        guard let parts = item.array, parts.count == 4, let name = parts[0].string else { continue }
        let oldest = parts[2].string.flatMap { EntryID($0) }.map { Int64(clamping: $0.milliseconds) }
        found[name, default: SubscriptionBacklog()].add(
          shard, events: parts[1].integer ?? 0, oldest: oldest, dropped: parts[3].integer ?? 0)
      }
    }
    return found
  }
}
