/// The types of events on the feed.
public enum EventType: String, Sendable, Hashable, CaseIterable {
  case skadnetworkPostbackVerified = "attribution.skadnetwork.postback.verified.v1"
  case skadnetworkPostbackRejected = "attribution.skadnetwork.postback.rejected.v1"
  case adAttributionKitPostbackVerified = "attribution.adattributionkit.postback.verified.v1"
  case adAttributionKitPostbackRejected = "attribution.adattributionkit.postback.rejected.v1"
  case notificationVerified = "appstore.notification.verified.v1"
  case notificationRejected = "appstore.notification.rejected.v1"
  case subscriptionGap = "appstore.subscription.gap.v1"
  /// Apple's answer about a subscription's status, which a recovery or a migration asked for.
  case subscriptionObserved = "appstore.subscription.observed.v1"
  /// A transaction that was read from Apple's transaction history.
  case transactionObserved = "appstore.transaction.observed.v1"
  /// A request of the App Store for a retention message, and the answer to it.
  case retentionDecided = "appstore.retention.decided.v1"
  case adServicesResolved = "attribution.adservices.resolved.v1"
  case adServicesFailed = "attribution.adservices.failed.v1"
  case attStatusChanged = "attribution.att.status_changed.v1"
  case sessionRouted = "attribution.session.routed.v1"
  /// A session that no host accepted; it is a dead letter.
  case sessionUndelivered = "attribution.session.undelivered.v1"
  /// A subscription of the feed is about to lose events.
  case subscriptionLagging = "attribution.feed.subscription.lagging.v1"
  /// A subscription of the feed loses events.
  case subscriptionDropped = "attribution.feed.subscription.dropped.v1"
  /// A push endpoint failed for too long, or answered 410, and was disabled.
  case endpointDisabled = "attribution.feed.endpoint.disabled.v1"
  /// A push endpoint refused an event for too long, and the event is not posted again.
  case eventUndelivered = "attribution.feed.event.undelivered.v1"
}
