import AttributionQueue
import ServiceRuntime

/// Declares and sets the metrics of the event feed, with a series for each subscription.
struct FeedMetrics: Sendable {
  private static let backlog = "attribution_feed_backlog"
  private static let age = "attribution_feed_oldest_unacknowledged_age_seconds"
  private static let dropped = "attribution_feed_dropped_total"
  private static let rejectedBytes = "attribution_rejected_bodies_bytes"
  private let metrics: MetricsRegistry

  init(_ metrics: MetricsRegistry) {
    self.metrics = metrics
    metrics.gauge(Self.backlog, help: "Events that a subscription has not acknowledged; updated once a minute.", labels: ["subscription"])
    metrics.gauge(Self.age, help: "Age of the oldest event that a subscription has not acknowledged.", labels: ["subscription"])
    metrics.counter(
      Self.dropped, help: "Events that were dropped before a subscription acknowledged them.", labels: ["subscription", "reason"])
    metrics.gauge(Self.rejectedBytes, help: "Bytes of the stored bodies of rejected deliveries; updated once a minute.")
  }

  func observe(_ observation: FeedObservation) {
    switch observation {
    case .backlog(let name, let events, let age):
      metrics.set(Self.backlog, Double(events), [name])
      metrics.set(Self.age, age, [name])
      // The series are created before anything is dropped, so that alerts see the first increase.
      for reason in FeedNotice.Reason.allCases { metrics.add(Self.dropped, 0, [name, reason.rawValue]) }
    case .dropped(let name, let count, let reason): metrics.add(Self.dropped, Double(count), [name, reason.rawValue])
    case .ended(let name):
      metrics.set(Self.backlog, 0, [name])
      metrics.set(Self.age, 0, [name])
    case .rejectedBodies(let bytes): metrics.set(Self.rejectedBytes, Double(bytes))
    }
  }
}
