/// Where a subscription begins, or is set to.
public enum FeedStart: Sendable, Hashable {
  /// With the oldest event that is kept.
  case beginning
  /// With what is published from now on.
  case now
  /// With what was published at this time or later, in milliseconds since 1970.
  case time(Int64)
  /// With the event of this id, and what was published in its millisecond or later in other shards.
  case event(String)

  /// As the contract's `start` and records name it.
  public var word: String {
    switch self {
    case .beginning: "beginning"
    case .now: "now"
    case .time: "time"
    case .event: "event"
    }
  }
}
