import AppleAttribution
import ServiceRuntime

/// The broker's own metrics.
struct BrokerMetrics: Sendable {
  private let registry: MetricsRegistry
  /// The apps with a label of their own; all others share one label.
  private let apps: Set<String>

  init(_ registry: MetricsRegistry, apps: [String]) {
    self.registry = registry
    self.apps = Set(apps)
    registry.counter("attribution_adservices_calls_total", help: "Calls of Apple's AdServices API.", labels: ["answer"])
    registry.histogram("attribution_adservices_call_seconds", help: "Time of a call of Apple's AdServices API.")
    registry.counter(
      "attribution_adservices_outcomes_total", help: "Tokens by how their exchange ended.", labels: ["outcome"])
    registry.counter(
      "attribution_adservices_test_records_total", help: "Made-up records of development builds.", labels: ["app"])
    registry.counter(
      "attribution_adservices_att_mismatch_total",
      help: "Records whose detail contradicts the ATT status that the app reported.", labels: ["app"])
    registry.gauge("attribution_adservices_in_flight", help: "Tokens that are worked at the moment.")
    registry.gauge("attribution_adservices_waiting", help: "Tokens that are due and wait for leave to ask Apple.")
    registry.gauge(
      "attribution_adservices_nearest_deadline_seconds", help: "What is left of the life of the waiting token nearest its end.")
    registry.gauge(
      "attribution_adservices_breaker_state", help: "Whether Apple is asked: 0 yes, 1 by single probes, 2 no, because it fails.")
  }

  /// - Parameter seconds: the duration of the call.
  func called(_ answer: AdServicesAnswer, seconds: Double) {
    let word =
      switch answer {
      case .record: "200"
      case .invalidToken: "400"
      case .notFound: "404"
      case .tryLater(.status(let status)): String(status)
      case .tryLater(.malformed): "malformed"
      case .tryLater(.transport): "transport"
      }
    registry.add("attribution_adservices_calls_total", 1, [word])
    registry.observe("attribution_adservices_call_seconds", seconds)
  }

  func ended(_ exchange: Exchange) {
    guard let outcome = exchange.outcome else { return }
    registry.add("attribution_adservices_outcomes_total", 1, [outcome.rawValue])
    let app = apps.contains(exchange.bundleId) ? exchange.bundleId : "other"
    if outcome == .test { registry.add("attribution_adservices_test_records_total", 1, [app]) }
    if exchange.isATTMismatch { registry.add("attribution_adservices_att_mismatch_total", 1, [app]) }
  }

  /// Reads gauges at each scrape.
  func observe(_ state: @escaping @Sendable () -> (inFlight: Int, waiting: Int, nearestSeconds: Double?, breaker: Int)) {
    let registry = registry
    registry.collect {
      let state = state()
      registry.set("attribution_adservices_in_flight", Double(state.inFlight))
      registry.set("attribution_adservices_waiting", Double(state.waiting))
      registry.set("attribution_adservices_nearest_deadline_seconds", state.nearestSeconds ?? 0)
      registry.set("attribution_adservices_breaker_state", Double(state.breaker))
    }
  }
}
