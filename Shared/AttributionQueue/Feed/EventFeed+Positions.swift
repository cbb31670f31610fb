public import RedisClient

/// A place in the events of one shard. Places of one shard are ordered.
public struct FeedPlace: Sendable, Hashable, Comparable {
  let entry: EntryID

  /// Before everything.
  public static let beginning = FeedPlace(entry: EntryID(milliseconds: 0, number: 0))

  /// When the event of this place was published, milliseconds since 1970.
  public var milliseconds: Int64 { Int64(clamping: entry.milliseconds) }

  public static func < (one: FeedPlace, other: FeedPlace) -> Bool { one.entry < other.entry }
}

/// An event as it lies in its shard.
public struct StoredEvent: Sendable {
  public let place: FeedPlace
  public let id: String
  public let type: String
  /// A CloudEvent in its JSON format.
  public let json: [UInt8]
  /// What filters go by; nil where a build of before wrote the event.
  public let attributes: EventAttributes?
  /// All fields of the entry.
  public let fields: [String: RedisReply]
}

/// Subscriptions that are pushed: a position in each shard, which whoever pushes reads behind and moves on.
extension EventFeed {
  /// Where a pushed subscription is in each shard: it is done with everything up to there. Places belong to one generation of the
  /// subscription; those of another are left out.
  public func positions(_ subscription: EventSubscription) async throws(EventFeedError) -> [Shard: FeedPlace] {
    let answers = try await onAllShards { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.eventPositions(shard)), .string(subscription.name)]).string
    }
    var positions: [Shard: FeedPlace] = [:]
    for (shard, text) in answers {
      let parts = (text ?? "").split(separator: " ")
      guard parts.count == 3 else {
        // It was lost, or never made whole: what there is counts as new.
        if text == nil { positions[shard] = .beginning }
        continue
      }
      guard parts[0] == String(subscription.generation), let entry = EntryID(String(parts[1])) else { continue }
      positions[shard] = FeedPlace(entry: entry)
    }
    return positions
  }

  /// The events of a shard behind a place, in their order.
  public func read(_ shard: Shard, after place: FeedPlace, most: Int) async throws(EventFeedError) -> [StoredEvent] {
    let reply = try await send([
      "XRANGE", .string(Keys.events(shard)), .string("(" + place.entry.text), "+", "COUNT", .integer(Int64(most)),
    ])
    return (reply.array ?? []).compactMap { item in
      guard let parts = item.array, parts.count == 2, let entry = parts[0].string.flatMap({ EntryID($0) }) else { return nil }
      let fields = Self.fields(parts[1])
      guard let id = fields["i"]?.string, let type = fields["t"]?.string, let json = fields["e"]?.bytes else { return nil }
      return StoredEvent(
        place: FeedPlace(entry: entry), id: id, type: type, json: json, attributes: Self.attributes(fields), fields: fields)
    }
  }

  /// Notes that a pushed subscription is done with everything of a shard up to a place; false when it was set to another place, or ended,
  /// meanwhile.
  ///
  /// - Parameter count: how many events, wanted or not, lie between its last position and this one.
  public func advance(_ subscription: EventSubscription, _ shard: Shard, to place: FeedPlace, count: Int) async throws(EventFeedError)
    -> Bool
  {
    try await run(
      Scripts.advance, [Keys.eventPositions(shard)],
      [.string(subscription.name), .integer(Int64(subscription.generation)), .string(place.entry.text), .integer(Int64(count))],
      isDurable: true
    ).integer == 1
  }

  private static func attributes(_ fields: [String: RedisReply]) -> EventAttributes? {
    guard let environment = fields["v"]?.string else { return nil }
    func text(_ name: String) -> String? { fields[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    return EventAttributes(
      adNetworkId: text("n"), appAppleId: text("p").flatMap { Int64($0) }, bundleId: text("b"),
      environment: environment.isEmpty ? nil : environment)
  }
}
