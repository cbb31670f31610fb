/// What a pushed subscription has read of a shard beyond its position: all of it is settled but these events, which were refused and are tried
/// again.
public struct UnsettledEvents: Sendable, Hashable {
  /// One of them.
  public struct Event: Sendable, Hashable {
    public let place: FeedPlace
    /// How many events lie between the position and it, itself included.
    public let offset: Int
    /// How often it was tried; 0 where its first try was under way.
    public let attempts: Int
    /// When it failed first, milliseconds since 1970.
    public let firstFailure: Int64

    public init(place: FeedPlace, offset: Int, attempts: Int, firstFailure: Int64) {
      self.place = place
      self.offset = offset
      self.attempts = attempts
      self.firstFailure = firstFailure
    }
  }

  /// Up to where it was read, and how many events lie between the position and that.
  public let cursor: FeedPlace
  public let offset: Int
  public let events: [Event]

  public init(cursor: FeedPlace, offset: Int, events: [Event]) {
    self.cursor = cursor
    self.offset = offset
    self.events = events
  }

  /// As it is kept, in words: the generation, the cursor, its offset, then place, offset, attempts and first failure of each.
  func text(generation: Int) -> String {
    var words = [String(generation), cursor.entry.text, String(offset)]
    for event in events { words += [event.place.entry.text, String(event.offset), String(event.attempts), String(event.firstFailure)] }
    return words.joined(separator: " ")
  }

  /// Reads that; nil for another generation, or anything else.
  init?(text: String, generation: Int) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count >= 3, (words.count - 3) % 4 == 0, words[0] == String(generation), let cursor = EntryID(words[1]),
      let offset = Int(words[2])
    else { return nil }
    var events: [Event] = []
    for index in stride(from: 3, to: words.count, by: 4) {
      guard let place = EntryID(words[index]), let offset = Int(words[index + 1]), let attempts = Int(words[index + 2]),
        let first = Int64(words[index + 3])
      else { return nil }
      events.append(Event(place: FeedPlace(entry: place), offset: offset, attempts: attempts, firstFailure: first))
    }
    self.init(cursor: FeedPlace(entry: cursor), offset: offset, events: events)
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
    /// Up to where all is settled, and how many events further that is; nil where it is nothing new.
    public let position: (place: FeedPlace, count: Int)?
    /// What is to be kept of events that are tried again.
    public let unsettled: UnsettledEvents?
    /// Whether nothing of that kind is to be kept any more.
    public let clearsUnsettled: Bool

    public init(shard: Shard, position: (place: FeedPlace, count: Int)?, unsettled: UnsettledEvents?, clearsUnsettled: Bool) {
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
      // What is beyond the position first: one that stops in between posts again, and leaves nothing out.
      var isPresent = true
      if let unsettled = note.unsettled {
        isPresent = try await self.keep(unsettled.text(generation: subscription.generation), of: subscription, shard)
      }
      if isPresent, let (place, count) = note.position { isPresent = try await self.advance(subscription, shard, to: place, count: count) }
      if isPresent, note.clearsUnsettled { isPresent = try await self.keep("", of: subscription, shard) }
      return isPresent
    }
    return answers.allSatisfy { $0.1 }
  }

  /// Keeps such words, or none; false when the subscription was set to another place, or ended, meanwhile.
  private func keep(_ text: String, of subscription: EventSubscription, _ shard: Shard) async throws(EventFeedError) -> Bool {
    try await run(
      Scripts.unsettle, [Keys.eventPositions(shard), Keys.unsettledEvents(shard)],
      [.string(subscription.name), .integer(Int64(subscription.generation)), .string(text)]
    ).integer == 1
  }
}
