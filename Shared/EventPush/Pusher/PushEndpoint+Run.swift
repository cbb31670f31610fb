import AttributionQueue
import ServiceRuntime

/// The part of an endpoint that calls Redis: reading from the feed, and storing progress, health and notices.
extension PushEndpoint {
  /// The shortest time between two writes of progress. Events that were accepted since the last write are posted again if the process dies.
  private static let progressInterval: Duration = .milliseconds(50)
  /// The shortest time between two writes of the health, milliseconds.
  private static let healthInterval: Int64 = 2000
  /// The greatest number of events of one read. If few events are wanted, more are read than there is room for.
  private static let maxRead = 2048

  /// Reads the stored progress and health of a subscription, and makes its endpoint.
  static func open(_ subscription: EventSubscription, _ settings: EndpointSettings, _ parts: PushParts) async throws(EventFeedError)
    -> PushEndpoint
  {
    let positions = try await parts.feed.positions(subscription)
    // While the subscription is being moved to another position, some shards still have the position of the earlier generation.
    guard positions.count == Shard.count else { throw .contended }
    let unsettled = try await parts.feed.unsettled(subscription)
    let health = try await parts.feed.endpointHealth(subscription.name).map { EndpointHealth(json: $0) } ?? EndpointHealth()
    // Failures from before the endpoint was enabled or moved must not count, or the next failure could disable it or give up an event.
    let since = settings.countsFrom
    var progress: [ShardProgress] = []
    var remaining: [(position: EventPosition, attempts: EndpointState.Attempts?)] = []
    for shard in Shard.all {
      let position = positions[shard] ?? .beginning
      var one = ShardProgress(at: position)
      if let stored = unsettled[shard] {
        let events = stored.events.filter { $0.position > position }
        one.resume(unsettled: events.map { ($0.position, $0.offset) }, cursor: stored.cursor, offset: stored.offset, base: stored.base)
        for event in events {
          remaining.append(
            (
              EventPosition(feedPosition: event.position, shard: shard),
              event.attempts > 0
                ? EndpointState.Attempts(count: event.firstFailure < since ? 1 : event.attempts, first: max(event.firstFailure, since))
                : nil
            ))
        }
      }
      progress.append(one)
    }
    let endpoint = PushEndpoint(
      subscription, settings, parts, health: health.counted(by: settings), progress: progress,
      shardsWithUnsettled: Set(unsettled.keys.map(\.index)))
    for start in stride(from: 0, to: remaining.count, by: 500) {
      let some = remaining[start..<min(start + 500, remaining.count)]
      let events = try await parts.feed.events(at: some.map { ($0.position.shard, $0.position.feedPosition) })
      endpoint.locked.withLock { locked in
        for (entry, stored) in zip(some, events) {
          if let stored {
            locked.state.add(PushedEvent(stored, entry.position.shard), attempts: entry.attempts)
          } else {
            endpoint.settle(entry.position, &locked)
          }
        }
      }
    }
    return endpoint
  }

  /// Reads events, starts posts and stores progress. Ends after ``stop()`` when the posts in flight have ended and the progress is stored,
  /// or when the endpoint has ended and that is published.
  func run() async {
    var progressStoredAt = ContinuousClock.now
    var healthStoredAt: Int64 = 0
    while true {
      do throws(EventFeedError) {
        try await load()
        try await skipUnpostable()
        let mayHaveMore = try await catchUp()
        postReady()
        if ContinuousClock.now - progressStoredAt >= Self.progressInterval || mustEnd {
          try await publishGivenUp()
          guard try await storeProgress() else { return }
          progressStoredAt = .now
        }
        if WallClock.now() - healthStoredAt >= Self.healthInterval || mustEnd {
          try await storeHealth()
          healthStoredAt = WallClock.now()
        }
        if let ending = locked.withLock({ $0.state.ending }), locked.withLock({ $0.state.inFlightCount == 0 }) {
          return try await end(ending)
        }
        if isDone { return }
        if mayHaveMore { continue }
      } catch {
        parts.logger.debug("an endpoint's progress cannot be read or stored now", metadata: ["subscription": "\(subscription.name)"])
        // After a stop, the successor continues with the progress that was stored last.
        if locked.withLock({ $0.isStopping && $0.state.inFlightCount == 0 }) { return }
        try? await Task.sleep(for: .milliseconds(250))
      }
      await signal.wait(for: waitTime(since: progressStoredAt))
      postReady()
    }
  }

  private var mustEnd: Bool { locked.withLock { ($0.isStopping || $0.state.ending != nil) && $0.state.inFlightCount == 0 } }

  private var isDone: Bool {
    locked.withLock { $0.isStopping && $0.state.inFlightCount == 0 && $0.changedShards.isEmpty && $0.givenUp.isEmpty }
  }

  /// The time after which ``run()`` must continue even if nothing wakes it.
  private func waitTime(since progressStoredAt: ContinuousClock.Instant) -> Duration {
    let (due, isChanged, healthWaits) = locked.withLock {
      ($0.due, !$0.changedShards.isEmpty || !$0.givenUp.isEmpty, $0.storedHealth != $0.state.health)
    }
    var pause: Duration = isChanged ? max(.milliseconds(1), Self.progressInterval - progressStoredAt.duration(to: .now)) : .seconds(30)
    if healthWaits { pause = min(pause, .milliseconds(Self.healthInterval)) }
    if let due { pause = min(pause, .milliseconds(max(1, due - WallClock.now()))) }
    return pause
  }

  // MARK: Reading

  /// Fetches events whose bytes were removed from memory.
  private func load() async throws(EventFeedError) {
    let positions = locked.withLock { locked in
      defer { locked.toLoad.removeAll() }
      return locked.toLoad
    }
    for start in stride(from: 0, to: positions.count, by: 100) {
      let some = Array(positions[start..<min(start + 100, positions.count)])
      let events: [StoredEvent?]
      do throws(EventFeedError) {
        events = try await parts.feed.events(at: some.map { ($0.shard, $0.feedPosition) })
      } catch {
        locked.withLock { $0.toLoad += positions[start...] }
        throw error
      }
      locked.withLock { locked in
        let loaded = zip(some, events).map { position, stored in (position: position, event: stored.map { PushedEvent($0, position.shard) })
        }
        for gone in locked.state.loaded(loaded) { settle(gone, &locked) }
      }
    }
  }

  /// Settles events of which no request can be made: those that do not exist in the form `original` count as skipped, those that cannot be
  /// parsed are given up.
  ///
  /// If the subscription has another form by now, the endpoint stops instead: original bytes are not stored since that change, and the
  /// events can be posted in the new form.
  func skipUnpostable() async throws(EventFeedError) {
    let events = locked.withLock { $0.unpostable }
    guard !events.isEmpty else { return }
    let present = try await parts.feed.subscription(subscription.name)?.push.flatMap { EndpointSettings(json: $0) }
    let isSame = present?.form == settings.form
    locked.withLock { locked in
      locked.unpostable.removeFirst(events.count)
      for event in events {
        locked.state.skipped(event.position, settles: isSame)
        guard isSame else { continue }
        parts.metrics.skipped()
        if settings.form == .original {
          settle(event.position, &locked)
        } else {
          locked.givenUp.append((event, 0, "the event cannot be read"))
        }
      }
      if !isSame { locked.isStopping = true }
    }
  }

  /// Reads from shards with unread events. Returns true if more can be read now.
  func catchUp() async throws(EventFeedError) -> Bool {
    let plan: (shards: [(Shard, FeedPosition)], limit: Int, force: Bool)? = locked.withLock { locked in
      guard !locked.unreadShards.isEmpty, !locked.isStopping, locked.state.ending == nil else { return nil }
      let force = settings.isOrdered && locked.state.isStarved
      guard locked.state.isWorthReading || force else { return nil }
      // Wanted events for which there is no room must be read again, so the share of wanted events determines how many are read.
      let total = min(Self.maxRead, Int(Double(max(locked.state.room, force ? 64 : 0)) / locked.wantedShare))
      var shards = Array(locked.unreadShards)
      if settings.isOrdered { shards.sort { locked.progress[$0].cursor < locked.progress[$1].cursor } }
      // Few shards and many events of each are read, because each shard costs a command. If order is kept, any shard may have the next
      // event, so more shards are read, from the one with the earliest cursor.
      let count = min(shards.count, settings.isOrdered ? 64 : 32, max(1, settings.isOrdered ? total : total / 64))
      let limit = min(256, max(1, (force ? max(total, 256) : total) / count))
      return (shards.prefix(count).map { (Shard($0), locked.progress[$0].cursor) }, limit, force)
    }
    guard let plan else { return false }
    let endsBefore = plan.shards.map { parts.tails.end(of: $0.0.index) }
    let found = try await parts.feed.events(after: plan.shards.map { ($0.0, $0.1) }, limit: plan.limit)
    return locked.withLock { locked in
      let endOfShard = Dictionary(uniqueKeysWithValues: zip(plan.shards.map(\.0.index), endsBefore))
      var (wanted, all) = (0, 0)
      for (shard, stored) in found {
        let index = shard.index
        locked.unreadShards.remove(index)
        let events = stored.map { PushedEvent($0, shard) }
        if subscription.hasFilter { (wanted, all) = (wanted + events.count(where: wants), all + events.count) }
        _ = add(events, index, force: plan.force, &locked)
        guard !locked.unreadShards.contains(index) else { continue }
        if events.count < plan.limit {
          // All events were read. If the last one is before the end of the last poll, the events in between were deleted.
          if let end = endOfShard[index] ?? nil { locked.progress[index].skip(to: end) }
        }
        // The shard must be read again if a poll has found further events meanwhile, or if there was no poll yet.
        guard let end = parts.tails.end(of: index), locked.progress[index].cursor >= end else {
          locked.unreadShards.insert(index)
          continue
        }
      }
      if all > 0 { locked.wantedShare = max(1 / 64, Double(wanted) / Double(all)) }
      advance(&locked)
      return !locked.unreadShards.isEmpty && (locked.state.isWorthReading || settings.isOrdered && locked.state.isStarved)
    }
  }

  // MARK: Storing

  /// Stores the progress of the shards in which it has changed. Returns false if the subscription was deleted or moved to another position.
  func storeProgress() async throws(EventFeedError) -> Bool {
    let notes: [EventFeed.PushProgress] = locked.withLock { locked in
      let notes = locked.changedShards.map { shard in
        let next = locked.progress[shard].toBeStored
        let base = locked.progress[shard].base
        let unsettled = unsettled(shard, locked, advance: next?.count ?? 0, base: next?.position ?? base)
        return EventFeed.PushProgress(
          shard: Shard(shard), position: next.map { ($0.position, $0.count, base) }, unsettled: unsettled,
          clearsUnsettled: unsettled == nil && locked.shardsWithUnsettled.contains(shard))
      }
      locked.changedShards.removeAll()
      return notes
    }
    guard !notes.isEmpty else { return true }
    do throws(EventFeedError) {
      let isOwn = try await parts.feed.note(notes, of: subscription)
      locked.withLock { locked in
        for note in notes {
          let shard = note.shard.index
          if let next = note.position { locked.progress[shard].recordStored(next.upTo, count: next.count) }
          if note.unsettled != nil { locked.shardsWithUnsettled.insert(shard) }
          if note.clearsUnsettled { locked.shardsWithUnsettled.remove(shard) }
        }
      }
      return isOwn
    } catch {
      locked.withLock { $0.changedShards.formUnion(notes.map(\.shard.index)) }
      throw error
    }
  }

  /// The unsettled events of a shard, if one of them waits for a retry; otherwise nil, because a successor can read them from the stored
  /// position on.
  ///
  /// - Parameter advance: the number of events by which the stored position advances with this write; offsets count from the new position.
  private func unsettled(_ shard: Int, _ locked: LockedState, advance: Int, base: FeedPosition?) -> UnsettledEvents? {
    let progress = locked.progress[shard]
    var hasRetries = false
    var events: [UnsettledEvents.Event] = []
    for (position, offset) in progress.unsettled {
      let attempts = locked.state.attempts(EventPosition(feedPosition: position, shard: Shard(shard)))
      if attempts != nil { hasRetries = true }
      events.append(
        UnsettledEvents.Event(
          position: position, offset: offset - advance, attempts: attempts?.count ?? 0, firstFailure: attempts?.first ?? 0))
    }
    guard hasRetries else { return nil }
    return UnsettledEvents(cursor: progress.cursor, offset: progress.offset - advance, base: base, events: events)
  }

  private func storeHealth() async throws(EventFeedError) {
    let (health, storedHealth) = locked.withLock { ($0.state.health, $0.storedHealth) }
    guard health != storedHealth else { return }
    try await parts.feed.setEndpointHealth(subscription, health.json)
    locked.withLock { $0.storedHealth = health }
  }

  /// Publishes a notice about each event that was given up, and settles the event afterwards.
  func publishGivenUp() async throws(EventFeedError) {
    while let one = locked.withLock({ $0.givenUp.first }) {
      try await parts.feed.publish(
        PushNotice.undelivered(one.event, to: subscription.name, attempts: one.attempts, error: one.error, now: WallClock.now()))
      parts.logger.warning(
        "an event is given up, because it cannot be read or its endpoint refused it for too long",
        metadata: ["subscription": "\(subscription.name)", "event": "\(one.event.id)", "attempts": "\(one.attempts)"])
      locked.withLock { locked in
        locked.givenUp.removeFirst()
        settle(one.event.position, &locked)
      }
    }
  }

  /// Publishes that the endpoint has ended, and then stores its state. After a crash in between, the successor does the same; the event has
  /// the same id and is not published twice.
  func end(_ ending: EndpointState.Ending) async throws(EventFeedError) {
    let health = locked.withLock { $0.state.health }
    let state: EndpointSettings.State = ending == .gone ? .gone : .disabled
    let reason = ending == .gone ? "it answered 410" : "it failed for too long: \(health.lastError ?? "")"
    let now = WallClock.now()
    let (name, own) = (subscription.name, settings)
    // If the endpoint was enabled or moved meanwhile, these failures do not count for the present endpoint.
    guard let present = try await parts.feed.subscription(name), present.createdAt == subscription.createdAt,
      present.push.flatMap({ EndpointSettings(json: $0) })?.hasSamePeriod(as: own) == true
    else { return }
    try await parts.feed.publish(
      PushNotice.ended(name, state, reason: reason, health: health, generation: subscription.generation, time: settings.countsFrom))
    _ = try await parts.feed.setPush(name) { json in
      guard var settings = EndpointSettings(json: json), settings.hasSamePeriod(as: own) else { return json }
      settings.end(state, reason: reason, now: now)
      return settings.json
    }
    parts.metrics.ended(state)
    parts.logger.warning("a push endpoint has ended", metadata: ["subscription": "\(name)", "state": "\(state.rawValue)"])
  }
}
