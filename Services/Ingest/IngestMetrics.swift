import AppleAttribution
import ServiceRuntime

/// The metrics of ingest, beside those that all services have and ``RetentionMetrics``.
struct IngestMetrics: Sendable {
  private let registry: MetricsRegistry

  /// The configured apps, which are values of the label `app`. All other apps count as `other`, so that the label has a bounded number of
  /// values.
  private let apps: Set<String>

  init(_ registry: MetricsRegistry, apps: [String]) {
    self.registry = registry
    self.apps = Set(apps)
    registry.counter(
      "attribution_adservices_device_errors_total", help: "Devices that reported an error instead of an attribution token.",
      labels: ["app", "error"])
    registry.counter(
      "attribution_att_status_unknown_total",
      help: "Sessions, tokens and updates with an ATT status that cannot be read or is none of Apple's.")
    registry.counter("attribution_sessions_held_total", help: "Sessions that were held until the user answers the ATT prompt.")
    registry.counter(
      "attribution_sessions_not_held_total", help: "Sessions that were sent on without consent because the backlog was full.")
    registry.counter(
      "attribution_sessions_routed_total", help: "Attempts to send a session to its hosts, by outcome.", labels: ["side", "outcome"])
  }

  /// - Parameter error: the name of the error that the device reported.
  func deviceHadNoToken(_ error: String, bundleId: String) {
    registry.add("attribution_adservices_device_errors_total", 1, [apps.contains(bundleId) ? bundleId : "other", error])
  }

  /// Counts the status of a session, a token or an update, if it cannot be read or Apple has not published it.
  func received(_ report: ATTStatusReport) {
    if report.isUnknown { registry.add("attribution_att_status_unknown_total") }
  }

  func notHeld() { registry.add("attribution_sessions_not_held_total") }
  func held() { registry.add("attribution_sessions_held_total") }

  /// - Parameters:
  ///   - consent: true if the session was sent to hosts for users who have consented.
  ///   - outcome: `delivered`, `refused` or `failed`.
  func routed(consent: Bool, outcome: String) {
    registry.add("attribution_sessions_routed_total", 1, [consent ? "consent" : "analytics", outcome])
  }
}
