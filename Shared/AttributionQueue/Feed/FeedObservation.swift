/// What happened to subscriptions, for metrics.
public enum FeedObservation: Sendable {
  /// What a subscription has not dealt with, looked at once a minute.
  case backlog(subscription: String, events: Int64, oldestAgeSeconds: Double)
  /// A subscription lost events.
  case dropped(subscription: String, events: Int, reason: FeedNotice.Reason)
  /// A subscription that there was has ended.
  case ended(subscription: String)
}

/// What is told on the feed itself about a subscription that its reader does not keep up with.
public struct FeedNotice: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// It comes near to losing events.
    case lagging
    /// From now on it loses events.
    case dropping
  }

  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Events become older than `queues.eventRetention`.
    case retention
    /// There are more than `queues.subscriptionBacklog`.
    case backlog
  }

  public let kind: Kind
  public let reason: Reason
  public let subscription: String
  public let backlog: Int64
  public let oldestAgeSeconds: Double
  /// How many events it had lost before.
  public let dropped: Int64
  /// Milliseconds since 1970.
  public let time: Int64

  /// One an hour of each kind, whoever finds it.
  public var id: String {
    let word = kind == .lagging ? "lagging" : "dropped"
    return "subscription-\(word):\(subscription):\(reason.rawValue):\(time / 3_600_000)"
  }
}
