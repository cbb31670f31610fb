import AttributionQueue

/// Where an event lies in the whole feed. Places are ordered by when events were published.
struct EventPlace: Sendable, Hashable, Comparable {
  let place: FeedPlace
  let shard: Shard

  static func < (one: EventPlace, other: EventPlace) -> Bool {
    one.place == other.place ? one.shard.index < other.shard.index : one.place < other.place
  }
}
