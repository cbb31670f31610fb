import AppleAttribution
import ServiceRuntime

/// The broker's own metrics.
struct BrokerMetrics: Sendable {
  private let registry: MetricsRegistry

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    registry.counter("attribution_adservices_calls_total", help: "Calls of Apple's AdServices API.", labels: ["answer"])
    registry.counter(
      "attribution_adservices_not_asked_total", help: "Calls not made because Apple's server was failing.")
    registry.counter(
      "attribution_adservices_outcomes_total", help: "Tokens by how their exchange ended.", labels: ["outcome"])
    registry.counter(
      "attribution_adservices_att_mismatch_total",
      help: "Records whose detail contradicts the ATT status that the app reported.")
  }

  func called(_ answer: AdServicesAnswer) {
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
  }

  func notAsked() { registry.add("attribution_adservices_not_asked_total") }

  func ended(_ outcome: AdServicesOutcome, attMismatch: Bool) {
    registry.add("attribution_adservices_outcomes_total", 1, [outcome.rawValue])
    if attMismatch { registry.add("attribution_adservices_att_mismatch_total") }
  }
}
