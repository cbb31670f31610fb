import Synchronization

/// Retention: dropping and deleting events.
extension EventFeed {
  /// The maximum number of events that one script call deletes, drops or skips, because a script blocks Redis.
  private static let maxPerStep: Int64 = 500
  /// The maximum number of such calls for one shard before the next shard.
  private static let maxStepsPerShard = 40
  /// The fraction of a limit from which a subscription is reported as lagging.
  private static let laggingFraction = 0.8

  /// Reports lagging subscriptions, drops events beyond the subscriptions' limits, and deletes events that no subscription needs and
  /// expired bodies of rejected deliveries. Returns how many events were dropped.
  @discardableResult
  public func trim() async throws(EventFeedError) -> Int {
    // If one shard's node is unavailable or its slot moves, trimming continues in the other shards.
    var (dropped, failure): (Int, EventFeedError?) = (0, nil)
    do throws(EventFeedError) { dropped = try await enforceLimits() } catch { failure = error }
    do throws(EventFeedError) { try await repairOriginals() } catch { failure = error }
    var rejectedBytes: Int64 = 0
    for shard in Shard.all where !Task.isCancelled {
      do throws(EventFeedError) {
        try await deleteSettled(shard)
        rejectedBytes += try await deleteRejectedBodies(shard)
      } catch { failure = error }
    }
    if failure == nil, !Task.isCancelled { observe(.rejectedBodies(bytes: rejectedBytes)) }
    if let failure { throw failure }
    return dropped
  }

  /// Trims periodically until cancelled. The first time comes early, after a random delay.
  public func runTrimming(every interval: Duration = .seconds(60)) async {
    var pause = interval * Double.random(in: 0.05...0.15)
    while !Task.isCancelled {
      do { try await Task.sleep(for: pause) } catch { return }
      pause = interval
      do throws(EventFeedError) { try await trim() } catch {
        logger.debug("the feed was not trimmed", metadata: ["reason": "\(error)"])
      }
    }
  }

  // MARK: Limits

  /// Skips unwanted events of all subscriptions, reports their backlogs and drops events beyond their limits.
  private func enforceLimits() async throws(EventFeedError) -> Int {
    let subscriptions = try await subscriptions()
    for subscription in subscriptions where subscription.isSelective { try await skipUnwanted(subscription) }
    let backlogs = subscriptions.isEmpty ? [:] : try await backlogs()
    var dropped = 0
    for subscription in subscriptions {
      dropped += try await enforceLimits(of: subscription, backlogs[subscription.name] ?? SubscriptionBacklog())
    }
    for name in measured.replace(Set(subscriptions.map(\.name))) { observe(.ended(subscription: name)) }
    return dropped
  }

  private func enforceLimits(of subscription: EventSubscription, _ backlog: SubscriptionBacklog) async throws(EventFeedError) -> Int {
    let configuration = deliveries.configuration
    let now = DeliveryQueue.now
    let age = backlog.ageSeconds(at: now) ?? 0
    observe(.backlog(subscription: subscription.name, events: backlog.events, oldestAgeSeconds: age))
    let retention = Double(configuration.eventRetention.milliseconds) / 1000
    func publishNotice(_ kind: FeedNotice.Kind, _ reason: FeedNotice.Reason) async throws(EventFeedError) {
      guard let notify else { return }
      try await publish(
        notify(
          FeedNotice(
            kind: kind, reason: reason, subscription: subscription.name, backlog: backlog.events, oldestAgeSeconds: age,
            dropped: backlog.dropped, time: now)))
    }
    var dropped = 0
    let maxBacklog = Int64(configuration.subscriptionBacklog)
    if backlog.events > maxBacklog {
      try await publishNotice(.dropping, .backlog)
      var count = 0
      for (shard, limit) in backlog.shares(of: backlog.events - maxBacklog) {
        count += try await drop(subscription, shard, limit: limit, before: "+")
      }
      dropped += report(dropped: count, of: subscription, .backlog)
    } else if Double(backlog.events) > Self.laggingFraction * Double(maxBacklog) {
      try await publishNotice(.lagging, .backlog)
    }
    if backlog.oldest != nil, age > retention {
      try await publishNotice(.dropping, .retention)
      var count = 0
      for shard in backlog.byShard.keys {
        count += try await drop(
          subscription, shard, limit: .max, before: "\(max(0, now - configuration.eventRetention.milliseconds))-0")
      }
      dropped += report(dropped: count, of: subscription, .retention)
    } else if age > Self.laggingFraction * retention {
      try await publishNotice(.lagging, .retention)
    }
    return dropped
  }

  /// Reports dropped events, and returns their number.
  private func report(dropped count: Int, of subscription: EventSubscription, _ reason: FeedNotice.Reason) -> Int {
    guard count > 0 else { return 0 }
    observe(.dropped(subscription: subscription.name, events: count, reason: reason))
    logger.warning(
      "events were dropped before a subscription acknowledged them",
      metadata: ["subscription": "\(subscription.name)", "count": "\(count)", "reason": "\(reason.rawValue)"])
    return count
  }

  /// Skips unwanted events before the first wanted one, so that they need not be stored for the subscription.
  private func skipUnwanted(_ subscription: EventSubscription) async throws(EventFeedError) {
    _ = try await onAllShards { shard throws(EventFeedError) in
      _ = try await self.drop(subscription, shard, limit: 0, before: "+")
    }
  }

  /// Drops up to `limit` events with smaller ids than `before` (`+`: any id), and skips unwanted ones. Returns how many were dropped.
  private func drop(_ subscription: EventSubscription, _ shard: Shard, limit: Int64, before: String) async throws(EventFeedError) -> Int {
    var dropped: Int64 = 0
    for _ in 0..<Self.maxStepsPerShard where !Task.isCancelled {
      let reply = try await run(
        Scripts.drop, [Keys.events(shard), Keys.eventPositions(shard), Keys.droppedEvents(shard), Keys.unsettledEvents(shard)],
        [
          .string(subscription.name), .integer(min(limit - dropped, Self.maxPerStep)), .string(before),
          .bytes(subscription.filter.packed(types: subscription.types, names: names)), .integer(Self.maxPerStep),
        ])
      let step = reply.array?.first?.integer ?? 0
      dropped += step
      guard reply.array?.last?.integer == 1 || step >= Self.maxPerStep, limit == 0 || dropped < limit else { break }
    }
    return Int(dropped)
  }

  // MARK: Deleting

  /// Deletes events of a shard that no subscription needs.
  private func deleteSettled(_ shard: Shard) async throws(EventFeedError) {
    let now = DeliveryQueue.now
    let configuration = deliveries.configuration
    // Repeated until a call deletes fewer than it may, because more events than one call deletes may arrive within a minute.
    var deleted = Self.maxPerStep
    while deleted >= Self.maxPerStep, !Task.isCancelled {
      deleted =
        try await run(
          Scripts.trim, [Keys.events(shard), Keys.eventsIndex(shard), Keys.eventPositions(shard)],
          [
            .string("\(max(0, now - configuration.acknowledgedEventTTL.milliseconds))-0"),
            .string("\(max(0, now - configuration.eventRetention.milliseconds))-0"), .integer(Self.maxPerStep),
          ]
        ).integer ?? 0
    }
  }

  /// Deletes expired bodies of rejected deliveries of a shard. Returns the bytes of the others.
  private func deleteRejectedBodies(_ shard: Shard) async throws(EventFeedError) -> Int64 {
    let earliest = DeliveryQueue.now - deliveries.configuration.eventRetention.milliseconds
    while true {
      let counts = try await run(
        Scripts.expireRejected,
        [Keys.rejectedBodies(shard), Keys.rejectedIndex(shard), Keys.rejectedSizes(shard), Keys.formerRejected(shard)],
        [.string(RejectedDelivery.digits(earliest)), .integer(Self.maxPerStep)]
      ).array?.compactMap(\.integer)
      guard let counts, counts.count == 2 else { throw .unavailable(.unexpectedReply("expire_rejected")) }
      if counts[0] < Self.maxPerStep || Task.isCancelled { return counts[1] }
    }
  }
}

/// The names of the subscriptions for which metrics were reported.
final class MeasuredSubscriptions: Sendable {
  private let names = Mutex<Set<String>>([])

  /// Replaces the names, and returns those that are gone.
  func replace(_ now: Set<String>) -> Set<String> {
    names.withLock { names in
      defer { names = now }
      return names.subtracting(now)
    }
  }
}
