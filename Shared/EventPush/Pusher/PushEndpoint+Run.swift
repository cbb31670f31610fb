import AttributionQueue
import ServiceRuntime

/// Reading from the feed, and storing progress.
extension PushEndpoint {
  /// The least time between two writes of progress. Events accepted in between are posted again if the process dies.
  private static let notingInterval: Duration = .milliseconds(50)
  private static let healthInterval: Int64 = 2000
  /// The greatest number of events that are read at once if few of them are wanted.
  private static let maxRead = 2048

  /// Reads a subscription's progress, and makes its endpoint.
  static func open(_ subscription: EventSubscription, _ settings: EndpointSettings, _ parts: PushParts) async throws(EventFeedError)
    -> PushEndpoint
  {
    let positions = try await parts.feed.positions(subscription)
    // Some shards have another generation, because the subscription is being moved to another position.
    guard positions.count == Shard.count else { throw .contended }
    let unsettled = try await parts.feed.unsettled(subscription)
    let health = try await parts.feed.endpointHealth(subscription.name).map { EndpointHealth(json: $0) } ?? EndpointHealth()
    // Failures from before the endpoint was enabled or moved must not count, or the next failure could disable it or give up an event.
    let since = settings.countsFrom
    var progress: [ShardProgress] = []
    var known: [(position: EventPosition, attempts: EndpointState.Attempts?)] = []
    for shard in Shard.all {
      let position = positions[shard] ?? .beginning
      var one = ShardProgress(at: position)
      if let left = unsettled[shard] {
        let events = left.events.filter { $0.place > position }
        one.resume(unsettled: events.map { ($0.place, $0.offset) }, cursor: left.cursor, offset: left.offset, base: left.base)
        for event in events {
          known.append(
            (
              EventPosition(feedPosition: event.place, shard: shard),
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
      withUnsettled: Set(unsettled.keys.map(\.index)))
    for start in stride(from: 0, to: known.count, by: 500) {
      let some = known[start..<min(start + 500, known.count)]
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

  /// Runs until it is stopped or the endpoint has ended, and then stores the progress.
  func run() async {
    var notedAt = ContinuousClock.now
    var healthAt: Int64 = 0
    while true {
      do throws(EventFeedError) {
        try await load()
        try await skip()
        let mayHaveMore = try await catchUp()
        pump()
        if ContinuousClock.now - notedAt >= Self.notingInterval || mustEnd {
          try await publishGivenUp()
          guard try await note() else { return }
          notedAt = .now
        }
        if WallClock.now() - healthAt >= Self.healthInterval || mustEnd {
          try await noteHealth()
          healthAt = WallClock.now()
        }
        if let ending = locked.withLock({ $0.state.ending }), locked.withLock({ $0.state.underWay == 0 }) {
          return try await end(ending)
        }
        if isDone { return }
        if mayHaveMore { continue }
      } catch {
        parts.logger.debug("an endpoint's progress cannot be read or stored now", metadata: ["subscription": "\(subscription.name)"])
        if locked.withLock({ $0.isStopping && $0.state.underWay == 0 }) { return }
        try? await Task.sleep(for: .milliseconds(250))
      }
      await signal.wait(for: pause(since: notedAt))
      pump()
    }
  }

  private var mustEnd: Bool { locked.withLock { ($0.isStopping || $0.state.ending != nil) && $0.state.underWay == 0 } }

  private var isDone: Bool { locked.withLock { $0.isStopping && $0.state.underWay == 0 && $0.changed.isEmpty && $0.givenUp.isEmpty } }

  /// The time until there is something to do, if nothing happens.
  private func pause(since notedAt: ContinuousClock.Instant) -> Duration {
    let (due, isChanged, healthWaits) = locked.withLock {
      ($0.due, !$0.changed.isEmpty || !$0.givenUp.isEmpty, $0.noted != $0.state.health)
    }
    var pause: Duration = isChanged ? max(.milliseconds(1), Self.notingInterval - notedAt.duration(to: .now)) : .seconds(30)
    if healthWaits { pause = min(pause, .milliseconds(Self.healthInterval)) }
    if let due { pause = min(pause, .milliseconds(max(1, due - WallClock.now()))) }
    return pause
  }

  // MARK: Reading

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

  /// Settles events that do not exist in the endpoint's form. If the subscription asks for another form by now, the endpoint stops instead,
  /// because original bytes have not been kept since. An event that cannot be parsed is given up.
  func skip() async throws(EventFeedError) {
    let events = locked.withLock { $0.withoutForm }
    guard !events.isEmpty else { return }
    let present = try await parts.feed.subscription(subscription.name)?.push.flatMap { EndpointSettings(json: $0) }
    let isSame = present?.form == settings.form
    locked.withLock { locked in
      locked.withoutForm.removeFirst(events.count)
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

  /// Reads shards that are behind. Returns true if there may be more to read now.
  func catchUp() async throws(EventFeedError) -> Bool {
    let plan: (shards: [(Shard, FeedPosition)], each: Int, force: Bool)? = locked.withLock { locked in
      guard !locked.behind.isEmpty, !locked.isStopping, locked.state.ending == nil else { return nil }
      let force = settings.isOrdered && locked.state.isStarved
      guard locked.state.isWorthReading || force else { return nil }
      // Events that do not fit must be read again, so only as many are read as are likely to be wanted.
      let room = min(Self.maxRead, Int(Double(max(locked.state.room, force ? 64 : 0)) / locked.wantedShare))
      var shards = Array(locked.behind)
      if settings.isOrdered { shards.sort { locked.progress[$0].cursor < locked.progress[$1].cursor } }
      // Few shards and many events of each, because each shard costs a command. If order is kept, every shard may have the next event.
      let count = min(shards.count, settings.isOrdered ? 64 : 32, max(1, settings.isOrdered ? room : room / 64))
      let each = min(256, max(1, (force ? max(room, 256) : room) / count))
      return (shards.prefix(count).map { (Shard($0), locked.progress[$0].cursor) }, each, force)
    }
    guard let plan else { return false }
    let ends = plan.shards.map { parts.tails.tail($0.0.index) }
    let found = try await parts.feed.events(behind: plan.shards.map { ($0.0, $0.1) }, limit: plan.each)
    return locked.withLock { locked in
      let isKnown = Dictionary(uniqueKeysWithValues: zip(plan.shards.map(\.0.index), ends))
      var (wanted, all) = (0, 0)
      for (shard, stored) in found {
        let index = shard.index
        locked.behind.remove(index)
        let events = stored.map { PushedEvent($0, shard) }
        if subscription.hasFilter { (wanted, all) = (wanted + events.count(where: wants), all + events.count) }
        _ = take(events, index, force: plan.force, &locked)
        guard !locked.behind.contains(index) else { continue }
        if events.count < plan.each {
          // There are no events up to the end of the last poll, because those before it were deleted.
          if let end = isKnown[index] ?? nil { locked.progress[index].skip(to: end) }
        }
        // Before the first poll of the tails, new events are not offered, so the shard stays behind.
        guard let end = parts.tails.tail(index), locked.progress[index].cursor >= end else {
          locked.behind.insert(index)
          continue
        }
      }
      if all > 0 { locked.wantedShare = max(1 / 64, Double(wanted) / Double(all)) }
      advance(&locked)
      return !locked.behind.isEmpty && (locked.state.isWorthReading || settings.isOrdered && locked.state.isStarved)
    }
  }

  // MARK: Noting

  /// Stores the progress. Returns false if the subscription was deleted or moved to another position.
  func note() async throws(EventFeedError) -> Bool {
    let notes: [EventFeed.PushNote] = locked.withLock { locked in
      let notes = locked.changed.map { shard in
        let next = locked.progress[shard].toBeNoted
        let base = locked.progress[shard].base
        let unsettled = unsettled(shard, locked, noted: next?.count ?? 0, base: next?.position ?? base)
        return EventFeed.PushNote(
          shard: Shard(shard), position: next.map { ($0.position, $0.count, base) }, unsettled: unsettled,
          clearsUnsettled: unsettled == nil && locked.withUnsettled.contains(shard))
      }
      locked.changed.removeAll()
      return notes
    }
    guard !notes.isEmpty else { return true }
    do throws(EventFeedError) {
      let isOwn = try await parts.feed.note(notes, of: subscription)
      locked.withLock { locked in
        for note in notes {
          let shard = note.shard.index
          if let next = note.position { locked.progress[shard].note(next.place, count: next.count) }
          if note.unsettled != nil { locked.withUnsettled.insert(shard) }
          if note.clearsUnsettled { locked.withUnsettled.remove(shard) }
        }
      }
      return isOwn
    } catch {
      locked.withLock { $0.changed.formUnion(notes.map(\.shard.index)) }
      throw error
    }
  }

  /// The unsettled events of a shard, if one of them waits for a retry.
  private func unsettled(_ shard: Int, _ locked: LockedState, noted: Int, base: FeedPosition?) -> UnsettledEvents? {
    let progress = locked.progress[shard]
    var isTriedAgain = false
    var events: [UnsettledEvents.Event] = []
    for (position, offset) in progress.unsettled {
      let attempts = locked.state.attempts(EventPosition(feedPosition: position, shard: Shard(shard)))
      if attempts != nil { isTriedAgain = true }
      events.append(
        UnsettledEvents.Event(
          place: position, offset: offset - noted, attempts: attempts?.count ?? 0, firstFailure: attempts?.first ?? 0))
    }
    guard isTriedAgain else { return nil }
    return UnsettledEvents(cursor: progress.cursor, offset: progress.offset - noted, base: base, events: events)
  }

  private func noteHealth() async throws(EventFeedError) {
    let (health, noted) = locked.withLock { ($0.state.health, $0.noted) }
    guard health != noted else { return }
    try await parts.feed.setEndpointHealth(subscription, health.json)
    locked.withLock { $0.noted = health }
  }

  func publishGivenUp() async throws(EventFeedError) {
    while let one = locked.withLock({ $0.givenUp.first }) {
      try await parts.feed.publish(
        PushNotice.undelivered(one.event, to: subscription.name, attempts: one.attempts, error: one.error, now: WallClock.now()))
      parts.logger.warning(
        "an event is given up: it cannot be read, or its endpoint refused it for too long",
        metadata: ["subscription": "\(subscription.name)", "event": "\(one.event.id)", "attempts": "\(one.attempts)"])
      locked.withLock { locked in
        locked.givenUp.removeFirst()
        settle(one.event.position, &locked)
      }
    }
  }

  /// Publishes that the endpoint has ended, and then stores its state. After a crash in between, the same event is published again.
  func end(_ ending: EndpointState.Ending) async throws(EventFeedError) {
    let health = locked.withLock { $0.state.health }
    let state: EndpointSettings.State = ending == .gone ? .gone : .disabled
    let reason = ending == .gone ? "it answered 410" : "it failed for too long: \(health.lastError ?? "")"
    let now = WallClock.now()
    let (name, own) = (subscription.name, settings)
    // The endpoint may have been enabled or moved meanwhile; then these failures were not those of the present endpoint.
    guard let present = try await parts.feed.subscription(name), present.createdAt == subscription.createdAt,
      present.push.flatMap({ EndpointSettings(json: $0) })?.isSameServer(as: own) == true
    else { return }
    try await parts.feed.publish(
      PushNotice.ended(name, state, reason: reason, health: health, generation: subscription.generation, now: settings.countsFrom))
    _ = try await parts.feed.setPush(name) { json in
      guard var settings = EndpointSettings(json: json), settings.isSameServer(as: own) else { return json }
      settings.end(state, reason: reason, now: now)
      return settings.json
    }
    parts.metrics.ended(state)
    parts.logger.warning("a push endpoint has ended", metadata: ["subscription": "\(name)", "state": "\(state.rawValue)"])
  }
}
