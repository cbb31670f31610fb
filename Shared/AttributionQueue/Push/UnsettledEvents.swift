/// The events of a shard that a pushed subscription has read beyond its position and not settled, because the endpoint refused them or the
/// post was in progress. They are posted again. Everything else between the position and the cursor is settled.
public struct UnsettledEvents: Sendable, Hashable {
  /// An unsettled event.
  public struct Event: Sendable, Hashable {
    public let position: FeedPosition
    /// The number of events after ``UnsettledEvents/base`` up to this one.
    public let offset: Int
    /// The number of attempts; 0 if the first was in progress.
    public let attempts: Int
    /// When the first attempt failed, milliseconds since 1970.
    public let firstFailure: Int64

    public init(position: FeedPosition, offset: Int, attempts: Int, firstFailure: Int64) {
      self.position = position
      self.offset = offset
      self.attempts = attempts
      self.firstFailure = firstFailure
    }
  }

  /// The position up to which events were read.
  public let cursor: FeedPosition
  /// The number of events after ``base`` up to the cursor.
  public let offset: Int
  /// The position from which offsets count; nil if unknown. The position of the subscription may be another: dropped events advance it.
  public let base: FeedPosition?
  public let events: [Event]

  public init(cursor: FeedPosition, offset: Int, base: FeedPosition?, events: [Event]) {
    self.cursor = cursor
    self.offset = offset
    self.base = base
    self.events = events
  }

  /// The stored text: generation, cursor, its offset, base, then position, offset, attempts and first failure of each event.
  func text(generation: Int) -> String {
    var words = [String(generation), cursor.entry.text, String(offset), base?.entry.text ?? "-"]
    for event in events { words += [event.position.entry.text, String(event.offset), String(event.attempts), String(event.firstFailure)] }
    return words.joined(separator: " ")
  }

  /// Parses the stored text, also that of older builds, which has no base; nil for another generation or invalid text.
  init?(text: String, generation: Int) {
    let words = text.split(separator: " ").map(String.init)
    let hasBase = words.count % 4 == 0
    guard words.count >= 3, hasBase || words.count % 4 == 3, words[0] == String(generation), let cursor = EntryID(words[1]),
      let offset = Int(words[2])
    else { return nil }
    var events: [Event] = []
    for index in stride(from: hasBase ? 4 : 3, to: words.count, by: 4) {
      guard let entry = EntryID(words[index]), let offset = Int(words[index + 1]), let attempts = Int(words[index + 2]),
        let first = Int64(words[index + 3])
      else { return nil }
      events.append(Event(position: FeedPosition(entry: entry), offset: offset, attempts: attempts, firstFailure: first))
    }
    let base = hasBase ? EntryID(words[3]).map { FeedPosition(entry: $0) } : nil
    self.init(cursor: FeedPosition(entry: cursor), offset: offset, base: base, events: events)
  }
}

extension EventFeed {
  /// The stored unsettled events of a pushed subscription in its current generation.
  public func unsettled(_ subscription: EventSubscription) async throws(EventFeedError) -> [Shard: UnsettledEvents] {
    let replies = try await onAllShards { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.unsettledEvents(shard)), .string(subscription.name)]).string
    }
    var found: [Shard: UnsettledEvents] = [:]
    for (shard, text) in replies { found[shard] = text.flatMap { UnsettledEvents(text: $0, generation: subscription.generation) } }
    return found
  }

  /// What has changed in the progress of a pushed subscription in one shard.
  public struct PushProgress: Sendable {
    public let shard: Shard
    /// The new position, up to which everything is settled; nil if it did not change. `count`: the number of events by which it advanced.
    /// `base`: the position from which they were counted; nil if unknown.
    public let position: (upTo: FeedPosition, count: Int, base: FeedPosition?)?
    /// The unsettled events to store; nil if they did not change.
    public let unsettled: UnsettledEvents?
    /// True if stored unsettled events are to be removed.
    public let clearsUnsettled: Bool

    public init(
      shard: Shard, position: (upTo: FeedPosition, count: Int, base: FeedPosition?)?, unsettled: UnsettledEvents? = nil,
      clearsUnsettled: Bool = false
    ) {
      self.shard = shard
      self.position = position
      self.unsettled = unsettled
      self.clearsUnsettled = clearsUnsettled
    }
  }

  /// Stores the progress (advance.lua); false if the subscription was set to another position or deleted meanwhile.
  public func note(_ changes: [PushProgress], of subscription: EventSubscription) async throws(EventFeedError) -> Bool {
    let byShard = Dictionary(uniqueKeysWithValues: changes.map { ($0.shard, $0) })
    let replies = try await on(changes.map(\.shard)) { shard throws(EventFeedError) in
      guard let change = byShard[shard] else { return true }
      guard change.position != nil || change.unsettled != nil || change.clearsUnsettled else { return true }
      let unsettled = change.unsettled?.text(generation: subscription.generation)
      return try await self.run(
        Scripts.advance, [Keys.eventPositions(shard), Keys.unsettledEvents(shard), Keys.events(shard)],
        [
          .string(subscription.name), .integer(Int64(subscription.generation)), .string(change.position?.upTo.entry.text ?? ""),
          .integer(Int64(change.position?.count ?? 0)), .string(change.position?.base?.entry.text ?? ""),
          .string(unsettled ?? (change.clearsUnsettled ? "-" : "")),
        ], isDurable: true
      ).integer == 1
    }
    return replies.allSatisfy { $0.1 }
  }
}
