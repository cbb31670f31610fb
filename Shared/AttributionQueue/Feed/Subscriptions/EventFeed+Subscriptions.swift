public import WireJSON

/// Creating, reading, changing and deleting subscriptions.
extension EventFeed {
  /// Creates a subscription; returns the existing one if its settings are the same.
  public func create(_ asked: EventSubscription) async throws(EventFeedError) -> EventSubscription {
    var wanted = EventSubscription(
      name: asked.name, types: asked.types, filter: asked.filter, start: asked.start, isOrdered: asked.isOrdered,
      createdAt: DeliveryQueue.now, push: asked.push)
    if let existing = try await subscription(wanted.name) {
      guard existing.asksForTheSame(as: wanted) else { throw .differs }
      return existing
    }
    // The new generation fences off a pusher of a deleted subscription with the same name.
    if wanted.push != nil { wanted.generation = Int(try await send(["GET", .string(Keys.firstGeneration)]).integer ?? 0) }
    // The positions are created first, so that a visible subscription can be read.
    try await put(wanted, at: wanted.start, keeps: true)
    _ = try await send(["HSETNX", .string(Keys.subscriptions), .string(wanted.name), .bytes(wanted.json)])
    guard let made = try await subscription(wanted.name) else { throw .unavailable(.unexpectedReply("HSETNX")) }
    guard made.asksForTheSame(as: wanted) else { throw .differs }
    guard made.generation < wanted.generation else { return made }
    // Another process created the subscription concurrently with an earlier generation; the positions must have the later one.
    let generation = wanted.generation
    return try await change(wanted.name) { $0.generation = max($0.generation, generation) }
  }

  /// Creates a pulled subscription without a filter.
  public func create(name: String, types: [String], start: FeedStart) async throws(EventFeedError) -> EventSubscription {
    try await create(EventSubscription(name: name, types: types, start: start))
  }

  /// The subscription with that name, without its backlog; nil if there is none.
  public func subscription(_ name: String) async throws(EventFeedError) -> EventSubscription? {
    try await send(["HGET", .string(Keys.subscriptions), .string(name)]).bytes.flatMap { EventSubscription(name: name, json: $0) }
  }

  /// All subscriptions, without their backlogs.
  public func subscriptions() async throws(EventFeedError) -> [EventSubscription] {
    let all = try await send(["HGETALL", .string(Keys.subscriptions)]).array ?? []
    return stride(from: 0, to: all.count - 1, by: 2).compactMap { index in
      guard let name = all[index].string, let json = all[index + 1].bytes else { return nil }
      return EventSubscription(name: name, json: json)
    }.sorted { $0.name < $1.name }
  }

  /// All subscriptions, with their backlogs.
  public func list() async throws(EventFeedError) -> [EventSubscription] {
    let all = try await subscriptions()
    guard !all.isEmpty else { return [] }
    let backlogs = try await backlogs()
    return all.map { $0.counted(backlogs[$0.name] ?? SubscriptionBacklog()) }
  }

  /// One subscription with its backlog.
  public func get(_ name: String) async throws(EventFeedError) -> EventSubscription {
    guard let subscription = try await subscription(name) else { throw .unknownSubscription }
    return subscription.counted(try await backlogs(of: name)[name] ?? SubscriptionBacklog())
  }

  /// Sets a subscription to another position: events after it are handed out, some of them again. Leases end, and events that were handed
  /// out before can no longer be acknowledged.
  public func seek(_ name: String, to start: FeedStart) async throws(EventFeedError) -> EventSubscription {
    let time: Int64
    switch start {
    case .beginning: time = 0
    case .now: time = DeliveryQueue.now
    case .time(let asked): time = asked
    case .event(let id):
      // If the start event does not exist, the leases must stay.
      guard let (_, entry) = try await place(of: id) else { throw .unknownEvent }
      time = Int64(clamping: entry.milliseconds)
    }
    let changed = try await change(name) { subscription in
      subscription.generation += 1
      subscription.soughtTime = subscription.push == nil ? nil : time
    }
    try await put(changed, at: start, keeps: false)
    if changed.push == nil {
      // What readers found while the positions were set one by one is no longer true: they discard it when the subscription changes.
      _ = try await change(name) { if $0.generation == changed.generation { $0.soughtTime = time } }
    }
    return try await get(name)
  }

  /// Replaces the push settings of a subscription; returns its new state.
  public func setPush(_ name: String, _ change: @Sendable (JSONObject) -> JSONObject) async throws(EventFeedError) -> EventSubscription {
    guard let subscription = try await subscription(name) else { throw .unknownSubscription }
    guard subscription.push != nil else { throw .isPulled }
    return try await self.change(name) { $0.push = change($0.push ?? [:]) }
  }

  /// Deletes a subscription; false if there was none.
  public func delete(_ name: String) async throws(EventFeedError) -> Bool {
    let reply = try await run(
      Scripts.delete, [Keys.subscriptions, Keys.firstGeneration, Keys.endpointHealth], [.string(name)], isDurable: true)
    guard let parts = reply.array, parts.count == 2, let first = parts[1].integer else { throw .unavailable(.unexpectedReply("delete")) }
    _ = try await onAllShards { shard throws(EventFeedError) in
      _ = try await self.run(
        Scripts.clear, [Keys.events(shard), Keys.eventPositions(shard), Keys.droppedEvents(shard), Keys.unsettledEvents(shard)],
        [.string(name), .integer(first)])
    }
    guard let json = parts[0].bytes else { return false }
    if let originals = EventSubscription(name: name, json: json)?.originals { try await endKeeping(originals) }
    return true
  }

  // MARK: Helpers

  private func change(_ name: String, _ change: (inout EventSubscription) -> Void) async throws(EventFeedError) -> EventSubscription {
    for _ in 0..<20 {
      guard let bytes = try await send(["HGET", .string(Keys.subscriptions), .string(name)]).bytes,
        var subscription = EventSubscription(name: name, json: bytes)
      else { throw .unknownSubscription }
      change(&subscription)
      let reply = try await run(Scripts.swap, [Keys.subscriptions], [.string(name), .bytes(bytes), .bytes(subscription.json)])
      if reply.integer == 1 { return subscription }
    }
    throw .contended
  }

  /// Completes an interrupted seek of a pushed subscription: creates positions that are missing in its generation.
  func finishSeek(_ subscription: EventSubscription) async throws(EventFeedError) {
    logger.warning("completed a seek that another instance had started", metadata: ["subscription": "\(subscription.name)"])
    try await put(subscription, at: subscription.soughtTime.map { .time($0) } ?? .beginning, keeps: true)
  }

  /// Sets the position of a subscription in each shard.
  ///
  /// - Parameter keeps: true if an existing position of a pulled subscription is not changed.
  func put(_ subscription: EventSubscription, at start: FeedStart, keeps: Bool) async throws(EventFeedError) {
    var eventPlace: (shard: Shard, entry: EntryID)?
    if case .event(let id) = start {
      guard let place = try await place(of: id) else { throw .unknownEvent }
      eventPlace = place
    }
    let known = eventPlace
    _ = try await onAllShards { shard throws(EventFeedError) in
      var (place, read) = ("$", "")
      switch start {
      case .beginning: place = "0-0"
      case .now: break
      case .time(let time): (place, read) = try await self.behind(EntryID(before: time), shard)
      case .event:
        guard let known else { break }
        let last = known.shard == shard ? known.entry.previous : EntryID(before: Int64(clamping: known.entry.milliseconds))
        (place, read) = try await self.behind(last, shard)
      }
      _ = try await self.run(
        Scripts.seek, [Keys.events(shard), Keys.eventPositions(shard)],
        [
          .string(subscription.name), .string(place), .string(read),
          .string(subscription.push == nil ? "" : String(subscription.generation)), .integer(keeps ? 1 : 0),
        ])
    }
  }

  /// A position, and the number of events that were ever added up to there. Redis needs it to compute how many follow.
  private func behind(_ place: EntryID, _ shard: Shard) async throws(EventFeedError) -> (place: String, read: String) {
    var (added, last, counted): (Int64?, String, Int64) = (nil, "", 0)
    var next = place.text
    while !next.isEmpty {
      let reply = try await run(Scripts.count, [Keys.events(shard)], [.string(next), .string(last), .integer(Self.countedAtOnce)])
      guard let parts = reply.array, parts.count == 4 else { throw .unavailable(.unexpectedReply("count")) }
      if added == nil { added = parts[0].integer }
      last = parts[1].string ?? ""
      counted += parts[2].integer ?? 0
      next = parts[3].string ?? ""
    }
    return (place.text, added.map { String(max(0, $0 - counted)) } ?? "")
  }

  /// The maximum number of events that one step counts, because a script blocks Redis.
  private static let countedAtOnce: Int64 = 500
}

extension EntryID {
  /// The last entry id before this millisecond.
  init(before milliseconds: Int64) {
    if milliseconds <= 0 {
      self.init(milliseconds: 0, number: 0)
    } else {
      self.init(milliseconds: UInt64(milliseconds) - 1, number: .max)
    }
  }

  /// The last entry id before this one.
  var previous: EntryID {
    number > 0 ? EntryID(milliseconds: milliseconds, number: number - 1) : EntryID(before: Int64(clamping: milliseconds))
  }
}
