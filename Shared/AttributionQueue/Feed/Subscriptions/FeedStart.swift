/// Where a subscription starts, or is set to by a seek.
public enum FeedStart: Sendable, Hashable {
  /// At the oldest stored event.
  case beginning
  /// After the newest event.
  case now
  /// At the first event published at this time or later, milliseconds since 1970.
  case time(Int64)
  /// In the event's shard at that event; in every other shard at the first event published in its millisecond or later.
  case event(String)

  /// The name in the contract's `start` and in records.
  public var word: String {
    switch self {
    case .beginning: "beginning"
    case .now: "now"
    case .time: "time"
    case .event: "event"
    }
  }
}
