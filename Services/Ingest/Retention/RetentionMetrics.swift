import AppStore
import ServiceRuntime

/// The metrics of retention messages.
struct RetentionMetrics: Sendable {
  private static let requests = "attribution_retention_requests_total"
  private static let refusals = "attribution_retention_refused_total"
  private static let fallbacks = "attribution_retention_fallbacks_total"
  private static let replays = "attribution_retention_replays_total"
  private static let duration = "attribution_retention_duration_seconds"
  private static let pending = "attribution_retention_events_pending"
  private static let dropped = "attribution_retention_events_dropped_total"
  private static let age = "attribution_retention_messages_age_seconds"

  /// The label values of the metric of answers.
  private struct Labels: Equatable {
    let environment: String
    let answer: String
  }

  private let registry: MetricsRegistry
  private let answers: KnownSeries<Labels>
  private let seconds: MetricSeries?

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    registry.counter(
      Self.requests, help: "Requests of the App Store for retention messages, by answer.",
      labels: ["environment", "answer"])
    registry.counter(
      Self.refusals, help: "Requests for retention messages that failed verification or are for another app.", labels: ["reason"])
    registry.counter(Self.fallbacks, help: "Retention answers that are a fallback for the preferred answer.", labels: ["cause"])
    registry.counter(Self.replays, help: "Repeated requests for retention messages, which got the same answer again.")
    registry.histogram(
      Self.duration, help: "Time from a verified request for a retention message to its answer.",
      bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7])
    registry.gauge(Self.pending, help: "Retention answers whose events are not yet stored in Redis.")
    registry.counter(Self.dropped, help: "Retention answers whose events were dropped.")
    registry.gauge(
      Self.age, help: "Time since the list of approved retention messages was last updated.", labels: ["environment"])
    answers = KnownSeries { registry.series(Self.requests, [$0.environment, $0.answer]) }
    seconds = registry.series(Self.duration)
  }

  func refused(_ reason: String) { registry.add(Self.refusals, 1, [reason]) }

  func answered(_ answer: StoredAnswer, environment: String, after time: Duration) {
    answers[Labels(environment: environment, answer: answer.kind)]?.add()
    seconds?.observe(time / .seconds(1))
  }

  func fellBack(_ cause: RetentionDecision.Cause) { registry.add(Self.fallbacks, 1, [cause.rawValue]) }
  func replayed() { registry.add(Self.replays) }
  func pendingEvents(_ count: Int) { registry.set(Self.pending, Double(count)) }
  func droppedEvent() { registry.add(Self.dropped) }

  /// Sets the ages of the lists of approved messages before each scrape.
  ///
  /// - Parameter ages: the age of the oldest list, seconds, by environment.
  func messages(_ ages: @escaping @Sendable () -> [String: Double]) {
    registry.collect { [registry] in
      for (environment, seconds) in ages() { registry.set(Self.age, seconds, [environment]) }
    }
  }
}
