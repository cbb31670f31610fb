import AttributionQueue

/// The position of an event in the whole feed. Positions are ordered by time of publication, and in the same millisecond by number and
/// shard.
struct EventPosition: Sendable, Hashable, Comparable {
  let feedPosition: FeedPosition
  let shard: Shard

  static func < (one: EventPosition, other: EventPosition) -> Bool {
    one.feedPosition == other.feedPosition ? one.shard.index < other.shard.index : one.feedPosition < other.feedPosition
  }
}
