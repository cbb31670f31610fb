public import WireJSON

/// Creating, reading, changing and deleting subscriptions.
extension EventFeed {
  /// Creates a subscription. Returns the existing one if a subscription with this name and the same settings exists.
  public func create(_ requested: EventSubscription) async throws(EventFeedError) -> EventSubscription {
    var new = EventSubscription(
      name: requested.name, types: requested.types, filter: requested.filter, start: requested.start, isOrdered: requested.isOrdered,
      createdAt: DeliveryQueue.now, push: requested.push)
    if let existing = try await subscription(new.name) {
      guard existing.hasSameSettings(as: new) else { throw .differs }
      return existing
    }
    // The new generation fences off a pusher of a deleted subscription with the same name.
    if new.push != nil { new.generation = Int(try await send(["GET", .string(Keys.firstGeneration)]).integer ?? 0) }
    // The positions are created first, because a subscription can be read as soon as it is stored.
    try await setPositions(of: new, at: new.start, keepsExisting: true)
    _ = try await send(["HSETNX", .string(Keys.subscriptions), .string(new.name), .bytes(new.json)])
    guard let created = try await subscription(new.name) else { throw .unavailable(.unexpectedReply("HSETNX")) }
    guard created.hasSameSettings(as: new) else { throw .differs }
    guard created.generation < new.generation else { return created }
    // Another process has created the subscription at the same time with an earlier generation. The positions have the later one, so the
    // subscription must have it too.
    let generation = new.generation
    return try await change(new.name) { $0.generation = max($0.generation, generation) }
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
    return all.map { $0.with(backlogs[$0.name] ?? SubscriptionBacklog()) }
  }

  /// One subscription with its backlog.
  public func get(_ name: String) async throws(EventFeedError) -> EventSubscription {
    guard let subscription = try await subscription(name) else { throw .unknownSubscription }
    return subscription.with(try await backlogs(of: name)[name] ?? SubscriptionBacklog())
  }

  /// Sets a subscription to another position. Events after the position are handed out, even if they were handed out before. All leases
  /// end, and events that were handed out before the seek can no longer be acknowledged.
  public func seek(_ name: String, to start: FeedStart) async throws(EventFeedError) -> EventSubscription {
    let time: Int64
    switch start {
    case .beginning: time = 0
    case .now: time = DeliveryQueue.now
    case .time(let requested): time = requested
    case .event(let id):
      // Checked before anything changes: without the start event, the leases must stay.
      guard let (_, entry) = try await location(ofEvent: id) else { throw .unknownEvent }
      time = Int64(clamping: entry.milliseconds)
    }
    let changed = try await change(name) { subscription in
      subscription.generation += 1
      subscription.soughtTime = subscription.push == nil ? nil : time
    }
    try await setPositions(of: changed, at: start, keepsExisting: false)
    if changed.push == nil {
      // While the positions were set one by one, pulls may have recorded quiet shards that are not quiet any more. A change of the
      // subscription makes every process discard them (``QuietShards``).
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

  /// Changes the stored subscription, and returns the result. Reads and tries again if another process changed it meanwhile (swap.lua).
  private func change(_ name: String, _ change: (inout EventSubscription) -> Void) async throws(EventFeedError) -> EventSubscription {
    for _ in 0..<Self.maxSwaps {
      guard let bytes = try await send(["HGET", .string(Keys.subscriptions), .string(name)]).bytes,
        var subscription = EventSubscription(name: name, json: bytes)
      else { throw .unknownSubscription }
      change(&subscription)
      let reply = try await run(Scripts.swap, [Keys.subscriptions], [.string(name), .bytes(bytes), .bytes(subscription.json)])
      if reply.integer == 1 { return subscription }
    }
    throw .contended
  }

  /// Completes an interrupted seek of a pushed subscription: sets the positions that do not have its generation yet.
  func finishSeek(_ subscription: EventSubscription) async throws(EventFeedError) {
    logger.warning("completing a seek that another instance has started", metadata: ["subscription": "\(subscription.name)"])
    try await setPositions(of: subscription, at: subscription.soughtTime.map { .time($0) } ?? .beginning, keepsExisting: true)
  }

  /// Sets the position of a subscription in each shard (seek.lua). A position of a pushed subscription that has its generation, or a later
  /// one, is not changed.
  ///
  /// - Parameter keepsExisting: true if an existing position of a pulled subscription is not changed.
  func setPositions(of subscription: EventSubscription, at start: FeedStart, keepsExisting: Bool) async throws(EventFeedError) {
    var startEvent: (shard: Shard, entry: EntryID)?
    if case .event(let id) = start {
      guard let found = try await location(ofEvent: id) else { throw .unknownEvent }
      startEvent = found
    }
    // A constant, because the closure below runs concurrently.
    let event = startEvent
    _ = try await onAllShards { shard throws(EventFeedError) in
      // seek.lua: the position, and the number of events up to there, empty if unknown.
      var (position, count) = ("$", "")
      switch start {
      case .beginning: position = "0-0"
      case .now: break
      case .time(let time): (position, count) = try await self.positionAndCount(EntryID(before: time), shard)
      case .event:
        guard let event else { break }
        let last = event.shard == shard ? event.entry.previous : EntryID(before: Int64(clamping: event.entry.milliseconds))
        (position, count) = try await self.positionAndCount(last, shard)
      }
      _ = try await self.run(
        Scripts.seek, [Keys.events(shard), Keys.eventPositions(shard)],
        [
          .string(subscription.name), .string(position), .string(count),
          .string(subscription.push == nil ? "" : String(subscription.generation)), .integer(keepsExisting ? 1 : 0),
        ])
    }
  }

  /// A position as text, and the number of events that were ever added up to there, from which Redis computes how many follow. The number
  /// is that of all events ever added minus those after the position, which count.lua counts in steps.
  private func positionAndCount(_ position: EntryID, _ shard: Shard) async throws(EventFeedError) -> (position: String, count: String) {
    var (added, last, counted): (Int64?, String, Int64) = (nil, "", 0)
    var next = position.text
    while !next.isEmpty {
      let reply = try await run(Scripts.count, [Keys.events(shard)], [.string(next), .string(last), .integer(Self.maxCountedPerStep)])
      guard let parts = reply.array, parts.count == 4 else { throw .unavailable(.unexpectedReply("count")) }
      if added == nil { added = parts[0].integer }
      last = parts[1].string ?? ""
      counted += parts[2].integer ?? 0
      next = parts[3].string ?? ""
    }
    return (position.text, added.map { String(max(0, $0 - counted)) } ?? "")
  }

  /// The maximum number of events that one call of count.lua counts, because a script blocks Redis.
  private static let maxCountedPerStep: Int64 = 500
  /// How often a change is tried while other processes change the subscription too.
  private static let maxSwaps = 20
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
