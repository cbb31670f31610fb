/// The types of events on the feed. `Documentation/event-reference.md` describes their data.
public enum EventType: String, Sendable, Hashable, CaseIterable {
  case skadnetworkPostbackVerified = "attribution.skadnetwork.postback.verified.v1"
  case skadnetworkPostbackRejected = "attribution.skadnetwork.postback.rejected.v1"
  case adAttributionKitPostbackVerified = "attribution.adattributionkit.postback.verified.v1"
  case adAttributionKitPostbackRejected = "attribution.adattributionkit.postback.rejected.v1"
  case notificationVerified = "appstore.notification.verified.v1"
  case notificationRejected = "appstore.notification.rejected.v1"
  /// A step that is missing in the history of an App Store subscription, or the result of the search for it.
  case subscriptionGap = "appstore.subscription.gap.v1"
  /// The status of an App Store subscription, for which a recovery or a migration queried Apple.
  case subscriptionObserved = "appstore.subscription.observed.v1"
  /// A transaction from Apple's transaction history.
  case transactionObserved = "appstore.transaction.observed.v1"
  /// A request of the App Store for a retention message, and the answer to it.
  case retentionDecided = "appstore.retention.decided.v1"
  /// An AdServices token for which Apple returned a record.
  case adServicesResolved = "attribution.adservices.resolved.v1"
  /// An AdServices token for which Apple returned no record.
  case adServicesFailed = "attribution.adservices.failed.v1"
  case attStatusChanged = "attribution.att.status_changed.v1"
  case sessionRouted = "attribution.session.routed.v1"
  /// A session that no host accepted in time; it becomes a dead letter.
  case sessionUndelivered = "attribution.session.undelivered.v1"
  /// A subscription of the feed has reached four fifths of a limit above which it loses events.
  case subscriptionLagging = "attribution.feed.subscription.lagging.v1"
  /// A subscription of the feed exceeds a limit: its oldest events are being dropped.
  case subscriptionDropped = "attribution.feed.subscription.dropped.v1"
  /// No more events are posted to a push endpoint, because it failed for too long or answered 410.
  case endpointDisabled = "attribution.feed.endpoint.disabled.v1"
  /// An event was given up, because its push endpoint refused it for too long or it cannot be posted in the endpoint's form.
  case eventUndelivered = "attribution.feed.event.undelivered.v1"
}
