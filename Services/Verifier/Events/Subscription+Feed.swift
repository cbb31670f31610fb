import AttributionProtocol
import AttributionQueue

extension Subscription {
  /// The message that describes a subscription, without its endpoint.
  init(_ subscription: EventSubscription) {
    self.init(
      name: subscription.name, types: subscription.types, start: subscription.start.name,
      createdAt: Timestamp(millisecondsSince1970: subscription.createdAt), backlog: subscription.backlog,
      oldestUnacknowledgedAgeSeconds: subscription.oldestAgeSeconds)
    if !subscription.filter.isEmpty {
      filter = EventFilter(
        adNetworkIds: subscription.filter.adNetworkIds, apps: subscription.filter.apps, environments: subscription.filter.environments)
    }
    switch subscription.start {
    case .beginning, .now: break
    case .time(let time): startTime = Timestamp(millisecondsSince1970: time)
    case .event(let id): startEventId = id
    }
    dropped = subscription.dropped
    if subscription.isOrdered { ordered = true }
  }
}
