import RedisClient

/// A position in the events of one shard.
public struct FeedPosition: Sendable, Hashable, Comparable {
  let entry: EntryID

  /// The position before all events.
  public static let beginning = FeedPosition(entry: EntryID(milliseconds: 0, number: 0))

  /// When the event at this position was published, milliseconds since 1970.
  public var milliseconds: Int64 { Int64(clamping: entry.milliseconds) }

  public static func < (one: FeedPosition, other: FeedPosition) -> Bool { one.entry < other.entry }
}

/// An event as it is stored in its shard.
public struct StoredEvent: Sendable {
  public let position: FeedPosition
  public let id: String
  public let type: String
  /// A CloudEvent in its JSON format.
  public let json: [UInt8]
  /// The attributes for filters; nil if an older build wrote the event.
  public let attributes: EventAttributes?
  /// The bytes that Apple sent and their content type, empty if there was none; nil if they are not stored.
  public let original: (body: [UInt8], contentType: String)?
}

/// Pushed subscriptions: a position in each shard, after which the pusher reads and which it advances.
extension EventFeed {
  /// The positions of a pushed subscription: in each shard, it has settled everything up to the position. A position belongs to a
  /// generation of the subscription. A position of an earlier generation is set to the start of the current one, one of a later generation
  /// is left out.
  ///
  /// A missing position is created again at the beginning, so that all events count as new. Without a position, progress could not be
  /// stored, and undelivered events would be deleted.
  public func positions(_ subscription: EventSubscription) async throws(EventFeedError) -> [Shard: FeedPosition] {
    let (positions, isSeekUnfinished) = try await storedPositions(subscription)
    guard isSeekUnfinished else { return positions }
    try await finishSeek(subscription)
    return try await storedPositions(subscription).positions
  }

  /// The positions of the current generation. `isSeekUnfinished`: true if a shard still has a position of an earlier generation.
  private func storedPositions(_ subscription: EventSubscription) async throws(EventFeedError)
    -> (positions: [Shard: FeedPosition], isSeekUnfinished: Bool)
  {
    var texts: [Shard: String] = [:]
    for (shard, text) in try await positionTexts(subscription, Shard.all) { texts[shard] = text }
    let lost = Shard.all.filter { texts[$0] == nil }
    if !lost.isEmpty {
      guard try await recreatePositions(subscription, lost) else { throw .unknownSubscription }
      for (shard, text) in try await positionTexts(subscription, lost) { texts[shard] = text }
    }
    var positions: [Shard: FeedPosition] = [:]
    var isSeekUnfinished = false
    for (shard, text) in texts {
      let parts = text.split(separator: " ")
      guard parts.count == 3, let generation = Int(parts[0]), let entry = EntryID(String(parts[1])) else { continue }
      if generation < subscription.generation { isSeekUnfinished = true }
      if generation == subscription.generation { positions[shard] = FeedPosition(entry: entry) }
    }
    return (positions, isSeekUnfinished)
  }

  /// The stored texts: generation, entry id, and number of events up to there (advance.lua).
  private func positionTexts(_ subscription: EventSubscription, _ shards: [Shard]) async throws(EventFeedError) -> [(Shard, String?)] {
    try await on(shards) { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.eventPositions(shard)), .string(subscription.name)]).string
    }
  }

  /// Creates lost positions. Returns false, and removes them again, if the subscription no longer exists.
  private func recreatePositions(_ subscription: EventSubscription, _ shards: [Shard]) async throws(EventFeedError) -> Bool {
    guard try await self.subscription(subscription.name) != nil else { return false }
    logger.warning(
      "a subscription starts from the beginning in shards where its position was lost",
      metadata: ["subscription": "\(subscription.name)", "shards": "\(shards.count)"])
    _ = try await on(shards) { shard throws(EventFeedError) in
      try await self.run(
        Scripts.seek, [Keys.events(shard), Keys.eventPositions(shard)],
        [.string(subscription.name), .string(FeedPosition.beginning.entry.text), "", .string(String(subscription.generation)), "1"])
    }
    // The subscription may have been deleted meanwhile; then its positions must be removed.
    guard try await self.subscription(subscription.name) == nil else { return true }
    _ = try await on(shards) { shard throws(EventFeedError) in
      try await self.send(["HDEL", .string(Keys.eventPositions(shard)), .string(subscription.name)])
    }
    return false
  }

  /// The events of a shard after a position, in order.
  public func read(_ shard: Shard, after position: FeedPosition, limit: Int) async throws(EventFeedError) -> [StoredEvent] {
    let reply = try await send([
      "XRANGE", .string(Keys.events(shard)), .string("(" + position.entry.text), "+", "COUNT", .integer(Int64(limit)),
    ])
    return Self.stored(reply)
  }

  /// The events in a list of stream entries. Entries that are no events are left out.
  static func stored(_ entries: RedisReply) -> [StoredEvent] {
    var events: [StoredEvent] = []
    events.reserveCapacity(entries.elements.underestimatedCount)
    for item in entries.elements {
      var parts = item.elements
      guard let entry = parts.nextString().flatMap({ EntryID($0) }), let words = parts.next() else { continue }
      var (id, type, json): (String?, String?, [UInt8]?)
      var (network, app, bundle, environment): (String?, String?, String?, String?)
      var (body, contentType): ([UInt8]?, String?)
      var fields = words.elements
      while let name = fields.nextSingleByte() {
        switch name {
        case UInt8(ascii: "i"): id = fields.nextString()
        case UInt8(ascii: "t"): type = fields.nextString()
        case UInt8(ascii: "e"): json = fields.nextBytes()
        case UInt8(ascii: "n"): network = fields.nextString()
        case UInt8(ascii: "p"): app = fields.nextString()
        case UInt8(ascii: "b"): bundle = fields.nextString()
        case UInt8(ascii: "v"): environment = fields.nextString()
        case UInt8(ascii: "o"): body = fields.nextBytes()
        case UInt8(ascii: "c"): contentType = fields.nextString()
        default: fields.skip()
        }
      }
      guard let id, let type, let json else { continue }
      func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
      let attributes = environment.map {
        EventAttributes(
          adNetworkId: nonEmpty(network), appAppleId: nonEmpty(app).flatMap { Int64($0) }, bundleId: nonEmpty(bundle),
          environment: nonEmpty($0))
      }
      events.append(
        StoredEvent(
          position: FeedPosition(entry: entry), id: id, type: type, json: json, attributes: attributes,
          original: body.map { ($0, contentType ?? "") }))
    }
    return events
  }
}
