import AppleAttribution
import ServiceRuntime

/// The metrics of asa-token-broker, beside those that all services have.
struct BrokerMetrics: Sendable {
  private let registry: MetricsRegistry
  /// The configured apps, which are values of the label `app`. All other apps count as `other`, so that the label has a bounded number of
  /// values.
  private let apps: Set<String>

  init(_ registry: MetricsRegistry, apps: [String]) {
    self.registry = registry
    self.apps = Set(apps)
    registry.counter("attribution_adservices_calls_total", help: "Calls to Apple's AdServices API, by answer.", labels: ["answer"])
    registry.histogram("attribution_adservices_call_seconds", help: "Time of a call to Apple's AdServices API.")
    registry.counter(
      "attribution_adservices_outcomes_total", help: "Finished tokens, by outcome of the exchange.", labels: ["outcome"])
    registry.counter(
      "attribution_adservices_test_records_total", help: "Test records that Apple returned for development builds.", labels: ["app"])
    registry.counter(
      "attribution_adservices_att_mismatch_total",
      help: "Attribution records whose detail contradicts the ATT status that the app reported.", labels: ["app"])
    registry.counter(
      "attribution_adservices_unusable_members_total",
      help: "Members of Apple's records that were left out because their value has another type than Apple documents.", labels: ["member"])
    registry.gauge("attribution_adservices_in_flight", help: "Tokens that are being processed.")
    registry.gauge("attribution_adservices_waiting", help: "Tokens that are due and wait for a permit to call Apple.")
    registry.gauge(
      "attribution_adservices_nearest_deadline_seconds",
      help: "Remaining lifetime of the waiting token that expires first; 0 if none waits.")
    registry.gauge(
      "attribution_adservices_breaker_state",
      help: "State of the circuit breaker for Apple: 0 closed, 1 half-open (single probes), 2 open (no calls).")
  }

  /// Counts a call of Apple's API.
  ///
  /// - Parameter seconds: the duration of the call.
  func called(_ response: AdServicesResponse, seconds: Double) {
    let answer =
      switch response {
      case .record: "200"
      case .invalidToken: "400"
      case .notFound: "404"
      case .tryLater(.status(let status)): String(status)
      case .tryLater(.malformed): "malformed"
      case .tryLater(.transport): "transport"
      }
    registry.add("attribution_adservices_calls_total", 1, [answer])
    registry.observe("attribution_adservices_call_seconds", seconds)
  }

  /// Counts members of a record that were left out. Their names are among those that Apple documents.
  func leftOut(_ members: [String]) {
    for member in members { registry.add("attribution_adservices_unusable_members_total", 1, [member]) }
  }

  /// Counts an exchange that has an outcome.
  func ended(_ exchange: Exchange) {
    guard let outcome = exchange.outcome else { return }
    registry.add("attribution_adservices_outcomes_total", 1, [outcome.rawValue])
    let app = apps.contains(exchange.claims.bundleId) ? exchange.claims.bundleId : "other"
    if outcome == .test { registry.add("attribution_adservices_test_records_total", 1, [app]) }
    if exchange.isATTMismatch { registry.add("attribution_adservices_att_mismatch_total", 1, [app]) }
  }

  /// Sets the gauges before each scrape.
  ///
  /// - Parameter state: reads the present state. `nearestSeconds` is nil if no token waits; `breaker` is 0, 1 or 2 as the metric's help
  ///   says.
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
