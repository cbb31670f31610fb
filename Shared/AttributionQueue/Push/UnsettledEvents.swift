/// What a pushed subscription has read of a shard beyond its position: all of it is settled but these events, which were refused and are tried
/// again.
public struct UnsettledEvents: Sendable, Hashable {
  /// One of them.
  public struct Event: Sendable, Hashable {
    public let place: FeedPosition
    /// How many events lie between the base and it, itself included.
    public let offset: Int
    /// How often it was tried; 0 where its first try was under way.
    public let attempts: Int
    /// When it failed first, milliseconds since 1970.
    public let firstFailure: Int64

    public init(place: FeedPosition, offset: Int, attempts: Int, firstFailure: Int64) {
      self.place = place
      self.offset = offset
      self.attempts = attempts
      self.firstFailure = firstFailure
    }
  }

  /// Up to where it was read, and how many events lie between the base and that.
  public let cursor: FeedPosition
  public let offset: Int
  /// The position from which all offsets count. It may have been moved since, by what drops events; nil where it is not known.
  public let base: FeedPosition?
  public let events: [Event]

  public init(cursor: FeedPosition, offset: Int, base: FeedPosition?, events: [Event]) {
    self.cursor = cursor
    self.offset = offset
    self.base = base
    self.events = events
  }

  /// As it is kept, in words: the generation, the cursor, its offset, the base, then place, offset, attempts and first failure of each.
  func text(generation: Int) -> String {
    var words = [String(generation), cursor.entry.text, String(offset), base?.entry.text ?? "-"]
    for event in events { words += [event.place.entry.text, String(event.offset), String(event.attempts), String(event.firstFailure)] }
    return words.joined(separator: " ")
  }

  /// Reads that, and what builds of before wrote, without a base; nil for another generation, or anything else.
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
  /// What is kept of this kind of a pushed subscription, of its present generation.
  public func unsettled(_ subscription: EventSubscription) async throws(EventFeedError) -> [Shard: UnsettledEvents] {
    let answers = try await onAllShards { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.unsettledEvents(shard)), .string(subscription.name)]).string
    }
    var found: [Shard: UnsettledEvents] = [:]
    for (shard, text) in answers { found[shard] = text.flatMap { UnsettledEvents(text: $0, generation: subscription.generation) } }
    return found
  }

  /// How far a pushed subscription has come in one shard.
  public struct PushNote: Sendable {
    public let shard: Shard
    /// Up to where all is settled, how many events further that is, and from which place they were counted, where that is known; nil where it
    /// is nothing new.
    public let position: (place: FeedPosition, count: Int, base: FeedPosition?)?
    /// What is to be kept of events that are tried again.
    public let unsettled: UnsettledEvents?
    /// Whether nothing of that kind is to be kept any more.
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

  /// Notes how far a pushed subscription has come; false when it was set to another place, or ended, meanwhile.
  public func note(_ notes: [PushNote], of subscription: EventSubscription) async throws(EventFeedError) -> Bool {
    let byShard = Dictionary(uniqueKeysWithValues: notes.map { ($0.shard, $0) })
    let answers = try await on(notes.map(\.shard)) { shard throws(EventFeedError) in
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
    return answers.allSatisfy { $0.1 }
  }
}
