import AttributionQueue

/// The position of an event in the whole feed, ordered by time of publication.
struct EventPosition: Sendable, Hashable, Comparable {
  let feedPosition: FeedPosition
  let shard: Shard

  static func < (one: EventPosition, other: EventPosition) -> Bool {
    one.feedPosition == other.feedPosition ? one.shard.index < other.shard.index : one.feedPosition < other.feedPosition
  }
}
