/// Where a subscription starts, or where a seek sets it.
public enum FeedStart: Sendable, Hashable {
  /// At the oldest stored event.
  case beginning
  /// After the newest event.
  case now
  /// At the first event published at this time or later, milliseconds since 1970.
  case time(Int64)
  /// At the event with this id: in its shard at the event itself, in every other shard at the first event published in the same millisecond
  /// or later.
  case event(String)

  /// The name in the contract's field `start` and in the stored subscription.
  public var name: String {
    switch self {
    case .beginning: "beginning"
    case .now: "now"
    case .time: "time"
    case .event: "event"
    }
  }
}
