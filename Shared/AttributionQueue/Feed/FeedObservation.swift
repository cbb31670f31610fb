/// An observation about subscriptions, for metrics.
public enum FeedObservation: Sendable {
  /// The backlog of a subscription, measured once a minute.
  case backlog(subscription: String, events: Int64, oldestAgeSeconds: Double)
  /// A subscription lost events.
  case dropped(subscription: String, events: Int, reason: FeedNotice.Reason)
  /// A subscription was deleted.
  case ended(subscription: String)
  /// The bytes of the stored bodies of rejected deliveries, measured once a minute.
  case rejectedBodies(bytes: Int64)
}

/// A notice, published on the feed, about a subscription whose reader is too slow.
public struct FeedNotice: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// The subscription is close to losing events.
    case lagging
    /// The subscription loses events from now on.
    case dropping
  }

  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Unacknowledged events become older than `queues.eventRetention`.
    case retention
    /// More events are unacknowledged than `queues.subscriptionBacklog`.
    case backlog
  }

  public let kind: Kind
  public let reason: Reason
  public let subscription: String
  /// The number of unacknowledged events.
  public let backlog: Int64
  /// The age of the oldest of them.
  public let oldestAgeSeconds: Double
  /// The number of events that the subscription has lost so far.
  public let dropped: Int64
  /// Milliseconds since 1970.
  public let time: Int64

  /// The id of the notice's event. It contains the hour, so that a notice of each kind and reason is published at most once an hour.
  public var id: String {
    let word = kind == .lagging ? "lagging" : "dropped"
    return "subscription-\(word):\(subscription):\(reason.rawValue):\(time / 3_600_000)"
  }
}
