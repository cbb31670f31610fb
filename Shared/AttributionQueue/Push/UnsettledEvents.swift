/// The events of a shard that a pushed subscription has read beyond its position and not settled, because the endpoint refused them. They are
/// retried.
public struct UnsettledEvents: Sendable, Hashable {
  /// An unsettled event.
  public struct Event: Sendable, Hashable {
    public let place: FeedPosition
    /// The number of events from the base to this one, inclusive.
    public let offset: Int
    /// The number of attempts; 0 if the first was in progress.
    public let attempts: Int
    /// When the first attempt failed, milliseconds since 1970.
    public let firstFailure: Int64

    public init(place: FeedPosition, offset: Int, attempts: Int, firstFailure: Int64) {
      self.place = place
      self.offset = offset
      self.attempts = attempts
      self.firstFailure = firstFailure
    }
  }

  /// The position up to which events were read, and the number of events from the base to it.
  public let cursor: FeedPosition
  public let offset: Int
  /// The position from which offsets count. The subscription's position may have advanced since, when events were dropped; nil if unknown.
  public let base: FeedPosition?
  public let events: [Event]

  public init(cursor: FeedPosition, offset: Int, base: FeedPosition?, events: [Event]) {
    self.cursor = cursor
    self.offset = offset
    self.base = base
    self.events = events
  }

  /// The stored form: generation, cursor, its offset, base, then position, offset, attempts and first failure of each event.
  func text(generation: Int) -> String {
    var words = [String(generation), cursor.entry.text, String(offset), base?.entry.text ?? "-"]
    for event in events { words += [event.place.entry.text, String(event.offset), String(event.attempts), String(event.firstFailure)] }
    return words.joined(separator: " ")
  }

  /// Parses the stored form, also of older builds, without a base; nil for another generation or invalid text.
  init?(text: String, generation: Int) {
    let words = text.split(separator: " ").map(String.init)
    let hasBase = words.count % 4 == 0
    guard words.count >= 3, hasBase || words.count % 4 == 3, words[0] == String(generation), let cursor = EntryID(words[1]),
      let offset = Int(words[2])
    else { return nil }
    var events: [Event] = []
    for index in stride(from: hasBase ? 4 : 3, to: words.count, by: 4) {
      guard let place = EntryID(words[index]), let offset = Int(words[index + 1]), let attempts = Int(words[index + 2]),
        let first = Int64(words[index + 3])
      else { return nil }
      events.append(Event(place: FeedPosition(entry: place), offset: offset, attempts: attempts, firstFailure: first))
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

  /// The progress of a pushed subscription in one shard.
  public struct PushNote: Sendable {
    public let shard: Shard
    /// The position up to which everything is settled, the number of events by which it advanced, and the position from which they were counted, if
    /// known; nil if nothing changed.
    public let position: (place: FeedPosition, count: Int, base: FeedPosition?)?
    /// The unsettled events to store.
    public let unsettled: UnsettledEvents?
    /// True if stored unsettled events are to be removed.
    public let clearsUnsettled: Bool

    public init(
      shard: Shard, position: (place: FeedPosition, count: Int, base: FeedPosition?)?, unsettled: UnsettledEvents? = nil,
      clearsUnsettled: Bool = false
    ) {
      self.shard = shard
      self.position = position
      self.unsettled = unsettled
      self.clearsUnsettled = clearsUnsettled
    }
  }

  /// Stores the progress; false if the subscription was set to another position or deleted meanwhile.
  public func note(_ notes: [PushNote], of subscription: EventSubscription) async throws(EventFeedError) -> Bool {
    let byShard = Dictionary(uniqueKeysWithValues: notes.map { ($0.shard, $0) })
    let replies = try await on(notes.map(\.shard)) { shard throws(EventFeedError) in
      guard let note = byShard[shard] else { return true }
      guard note.position != nil || note.unsettled != nil || note.clearsUnsettled else { return true }
      let unsettled = note.unsettled?.text(generation: subscription.generation)
      return try await self.run(
        Scripts.advance, [Keys.eventPositions(shard), Keys.unsettledEvents(shard), Keys.events(shard)],
        [
          .string(subscription.name), .integer(Int64(subscription.generation)), .string(note.position?.place.entry.text ?? ""),
          .integer(Int64(note.position?.count ?? 0)), .string(note.position?.base?.entry.text ?? ""),
          .string(unsettled ?? (note.clearsUnsettled ? "-" : "")),
        ], isDurable: true
      ).integer == 1
    }
    return replies.allSatisfy { $0.1 }
  }
}
