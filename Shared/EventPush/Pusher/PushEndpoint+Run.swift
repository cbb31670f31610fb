import AttributionQueue
import ServiceRuntime

/// Reading from the feed, and storing progress.
extension PushEndpoint {
  /// How often progress is noted at the most: what was taken in between is posted again when the process dies.
  private static let notingInterval: Duration = .milliseconds(50)
  private static let healthInterval: Int64 = 2000
  /// As many events are read in one go where few of them are wanted.
  private static let mostRead = 2048

  /// Finds where a subscription is, and makes its endpoint.
  static func open(_ subscription: EventSubscription, _ settings: EndpointSettings, _ parts: PushParts) async throws(EventFeedError)
    -> PushEndpoint
  {
    let positions = try await parts.feed.positions(subscription)
    // Some are of another generation: it is being set to another place.
    guard positions.count == Shard.count else { throw .contended }
    let unsettled = try await parts.feed.unsettled(subscription)
    let health = try await parts.feed.endpointHealth(subscription.name).map { EndpointHealth(json: $0) } ?? EndpointHealth()
    // What failed before it was enabled, or moved, counts no more: it would be ended, or the event given up, by the next failure.
    let since = settings.countsFrom
    var progress: [ShardProgress] = []
    var known: [(place: EventPosition, attempts: EndpointState.Attempts?)] = []
    for shard in Shard.all {
      let position = positions[shard] ?? .beginning
      var one = ShardProgress(at: position)
      if let left = unsettled[shard] {
        let events = left.events.filter { $0.place > position }
        one.resume(unsettled: events.map { ($0.place, $0.offset) }, cursor: left.cursor, offset: left.offset, base: left.base)
        for event in events {
          known.append(
            (
              EventPosition(place: event.place, shard: shard),
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
      let events = try await parts.feed.events(at: some.map { ($0.place.shard, $0.place.place) })
      endpoint.locked.withLock { locked in
        for (entry, stored) in zip(some, events) {
          if let stored {
            locked.state.add(PushedEvent(stored, entry.place.shard), attempts: entry.attempts)
          } else {
            endpoint.settle(entry.place, &locked)
          }
        }
      }
    }
    return endpoint
  }

  /// Works until it is stopped, or the endpoint has ended; then all that was taken is noted.
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
          try await tellGivenUp()
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
        parts.logger.debug("an endpoint's progress waits for the store", metadata: ["subscription": "\(subscription.name)"])
        if locked.withLock({ $0.isStopping && $0.state.underWay == 0 }) { return }
        try? await Task.sleep(for: .milliseconds(250))
      }
      await signal.wait(for: pause(since: notedAt))
      pump()
    }
  }

  private var mustEnd: Bool { locked.withLock { ($0.isStopping || $0.state.ending != nil) && $0.state.underWay == 0 } }

  private var isDone: Bool { locked.withLock { $0.isStopping && $0.state.underWay == 0 && $0.changed.isEmpty && $0.givenUp.isEmpty } }

  /// How long there is nothing to do if nothing happens.
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
    let places = locked.withLock { locked in
      defer { locked.toLoad.removeAll() }
      return locked.toLoad
    }
    for start in stride(from: 0, to: places.count, by: 100) {
      let some = Array(places[start..<min(start + 100, places.count)])
      let events: [StoredEvent?]
      do throws(EventFeedError) {
        events = try await parts.feed.events(at: some.map { ($0.shard, $0.place) })
      } catch {
        locked.withLock { $0.toLoad += places[start...] }
        throw error
      }
      locked.withLock { locked in
        let loaded = zip(some, events).map { place, stored in (place: place, event: stored.map { PushedEvent($0, place.shard) }) }
        for gone in locked.state.loaded(loaded) { settle(gone, &locked) }
      }
    }
  }

  /// Settles events that cannot be had in the form that the endpoint asks for, unless it asks for another one by now: since then no original
  /// bytes are kept. Of an event that cannot be read this is told.
  func skip() async throws(EventFeedError) {
    let events = locked.withLock { $0.withoutForm }
    guard !events.isEmpty else { return }
    let present = try await parts.feed.subscription(subscription.name)?.push.flatMap { EndpointSettings(json: $0) }
    let isSame = present?.form == settings.form
    locked.withLock { locked in
      locked.withoutForm.removeFirst(events.count)
      for event in events {
        locked.state.skipped(event.place, settles: isSame)
        guard isSame else { continue }
        parts.metrics.skipped()
        if settings.form == .original {
          settle(event.place, &locked)
        } else {
          locked.givenUp.append((event, 0, "the event cannot be read"))
        }
      }
      if !isSame { locked.isStopping = true }
    }
  }

  /// Reads shards whose end is not reached; answers whether there may be more to read now.
  func catchUp() async throws(EventFeedError) -> Bool {
    let plan: (shards: [(Shard, FeedPosition)], each: Int, force: Bool)? = locked.withLock { locked in
      guard !locked.behind.isEmpty, !locked.isStopping, locked.state.ending == nil else { return nil }
      let force = settings.isOrdered && locked.state.isStarved
      guard locked.state.isWorthReading || force else { return nil }
      // What finds no room is read once more: as many as are likely to be wanted.
      let room = min(Self.mostRead, Int(Double(max(locked.state.room, force ? 64 : 0)) / locked.wantedShare))
      var shards = Array(locked.behind)
      if settings.isOrdered { shards.sort { locked.progress[$0].cursor < locked.progress[$1].cursor } }
      // Few shards and many events of each, since each is a question; where order is kept, all that may be next.
      let count = min(shards.count, settings.isOrdered ? 64 : 32, max(1, settings.isOrdered ? room : room / 64))
      let each = min(256, max(1, (force ? max(room, 256) : room) / count))
      return (shards.prefix(count).map { (Shard($0), locked.progress[$0].cursor) }, each, force)
    }
    guard let plan else { return false }
    let ends = plan.shards.map { parts.tails.tail($0.0.index) }
    let found = try await parts.feed.events(behind: plan.shards.map { ($0.0, $0.1) }, most: plan.each)
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
          // Nothing is between: what was there is deleted.
          if let end = isKnown[index] ?? nil { locked.progress[index].skip(to: end) }
        }
        // Before the first look at the ends nobody offers what comes.
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

  /// Notes what is settled; false when the subscription has ended, or was set to another place.
  func note() async throws(EventFeedError) -> Bool {
    let notes: [EventFeed.PushNote] = locked.withLock { locked in
      let notes = locked.changed.map { shard in
        let next = locked.progress[shard].toBeNoted
        let base = locked.progress[shard].base
        let unsettled = unsettled(shard, locked, noted: next?.count ?? 0, base: next?.place ?? base)
        return EventFeed.PushNote(
          shard: Shard(shard), position: next.map { ($0.place, $0.count, base) }, unsettled: unsettled,
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

  /// What is to be kept of a shard in which an event waits for another try.
  private func unsettled(_ shard: Int, _ locked: LockedState, noted: Int, base: FeedPosition?) -> UnsettledEvents? {
    let progress = locked.progress[shard]
    var isTriedAgain = false
    var events: [UnsettledEvents.Event] = []
    for (place, offset) in progress.unsettled {
      let attempts = locked.state.attempts(EventPosition(place: place, shard: Shard(shard)))
      if attempts != nil { isTriedAgain = true }
      events.append(
        UnsettledEvents.Event(
          place: place, offset: offset - noted, attempts: attempts?.count ?? 0, firstFailure: attempts?.first ?? 0))
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

  func tellGivenUp() async throws(EventFeedError) {
    while let one = locked.withLock({ $0.givenUp.first }) {
      try await parts.feed.publish(
        PushNotice.undelivered(one.event, to: subscription.name, attempts: one.attempts, error: one.error, now: WallClock.now()))
      parts.logger.warning(
        "an event is given up: it cannot be read, or its endpoint refused it for too long",
        metadata: ["subscription": "\(subscription.name)", "event": "\(one.event.id)", "attempts": "\(one.attempts)"])
      locked.withLock { locked in
        locked.givenUp.removeFirst()
        settle(one.event.place, &locked)
      }
    }
  }

  /// Says on the feed that the endpoint has ended, and then that it has: who dies in between says it again, as the same event.
  func end(_ ending: EndpointState.Ending) async throws(EventFeedError) {
    let health = locked.withLock { $0.state.health }
    let state: EndpointSettings.State = ending == .gone ? .gone : .disabled
    let reason = ending == .gone ? "it answered 410" : "it failed for too long: \(health.lastError ?? "")"
    let now = WallClock.now()
    let (name, own) = (subscription.name, settings)
    // It may have been enabled anew, or moved, meanwhile: what failed was another endpoint.
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
