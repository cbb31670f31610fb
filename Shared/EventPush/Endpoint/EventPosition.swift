import AttributionQueue

/// Where an event lies in the whole feed. Places are ordered by when events were published.
struct EventPosition: Sendable, Hashable, Comparable {
  let place: FeedPosition
  let shard: Shard

  static func < (one: EventPosition, other: EventPosition) -> Bool {
    one.place == other.place ? one.shard.index < other.shard.index : one.place < other.place
  }
}
