/// The types of events on the feed.
public enum EventType: String, Sendable, Hashable, CaseIterable {
  case skadnetworkPostbackVerified = "attribution.skadnetwork.postback.verified.v1"
  case skadnetworkPostbackRejected = "attribution.skadnetwork.postback.rejected.v1"
  case adAttributionKitPostbackVerified = "attribution.adattributionkit.postback.verified.v1"
  case adAttributionKitPostbackRejected = "attribution.adattributionkit.postback.rejected.v1"
  case notificationVerified = "appstore.notification.verified.v1"
  case notificationRejected = "appstore.notification.rejected.v1"
  case subscriptionGap = "appstore.subscription.gap.v1"
  /// What Apple answered about a subscription's status: a gap was mended by it, or a receipt migrated.
  case subscriptionObserved = "appstore.subscription.observed.v1"
  /// A transaction of Apple's history that was looked up.
  case transactionObserved = "appstore.transaction.observed.v1"
  /// A request of the App Store for a retention message, and what it was answered.
  case retentionDecided = "appstore.retention.decided.v1"
  case adServicesResolved = "attribution.adservices.resolved.v1"
  case adServicesFailed = "attribution.adservices.failed.v1"
  case attStatusChanged = "attribution.att.status_changed.v1"
  case sessionRouted = "attribution.session.routed.v1"
  /// A subscription of the feed comes near to losing events.
  case subscriptionLagging = "attribution.feed.subscription.lagging.v1"
  /// A subscription of the feed loses events.
  case subscriptionDropped = "attribution.feed.subscription.dropped.v1"
  /// A push endpoint failed for too long, or answered 410: it is posted to no more.
  case endpointDisabled = "attribution.feed.endpoint.disabled.v1"
  /// A push endpoint refused an event for so long that it is given up.
  case eventUndelivered = "attribution.feed.event.undelivered.v1"
}
