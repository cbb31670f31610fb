import HTTPClient
public import ServiceRuntime
import Traces

/// The metrics of pushing. Labels have a bounded number of values, so none names an endpoint.
public struct PushMetrics: Sendable {
  private let requests: KnownOutcomes
  private let duration: MetricSeries?
  private let delay: MetricSeries?
  private let metrics: MetricsRegistry

  private static let requestsName = "attribution_push_requests_total"
  private static let durationName = "attribution_push_request_duration_seconds"
  private static let delayName = "attribution_push_delay_seconds"
  private static let givenUpName = "attribution_push_given_up_total"
  private static let skippedName = "attribution_push_skipped_total"
  private static let endedName = "attribution_push_endpoints_ended_total"
  private static let openFailuresName = "attribution_push_open_failures_total"
  private static let endpointsName = "attribution_push_endpoints"

  /// The outcome of a request, as the value of the label `outcome`.
  enum Outcome: String, CaseIterable {
    case taken, redirected, refused, tooMany = "too_many", serverError = "server_error", gone, timeout, connection, tls, address
  }

  /// The series of each outcome. They are looked up once, because every request counts.
  private struct KnownOutcomes: Sendable {
    let series: [String: MetricSeries]
  }

  public init(_ metrics: MetricsRegistry) {
    self.metrics = metrics
    metrics.counter(Self.requestsName, help: "Requests to push endpoints.", labels: ["outcome"])
    metrics.histogram(
      Self.durationName, help: "Time from the start of a request to a push endpoint to its outcome.",
      bounds: MetricsRegistry.durationBounds + [15, 30])
    metrics.histogram(
      Self.delayName, help: "Time from an event's publication to the 2xx of its endpoint.",
      bounds: MetricsRegistry.durationBounds + [60, 600, 3600, 86_400])
    metrics.counter(Self.givenUpName, help: "Events that were given up after posts had failed for push.retryFor.")
    metrics.counter(
      Self.skippedName, help: "Events that were not posted because they do not exist in the endpoint's form or cannot be read.")
    metrics.counter(Self.endedName, help: "Endpoints that were disabled or answered 410.", labels: ["state"])
    metrics.counter(Self.openFailuresName, help: "Failed attempts to read an endpoint's position in the feed; they are repeated.")
    metrics.gauge(
      Self.endpointsName, help: "Endpoints that this instance pushes to; an endpoint that accepts no event is suspect.", labels: ["state"])
    var series: [String: MetricSeries] = [:]
    for outcome in Outcome.allCases { series[outcome.rawValue] = metrics.series(Self.requestsName, [outcome.rawValue]) }
    for state in ["gone", "disabled"] { metrics.add(Self.endedName, 0, [state]) }
    requests = KnownOutcomes(series: series)
    duration = metrics.series(Self.durationName)
    delay = metrics.series(Self.delayName)
  }

  func requested(_ outcome: Outcome, seconds: Double, _ span: Span?) {
    requests.series[outcome.rawValue]?.add()
    duration?.observe(seconds, of: span)
  }

  /// - Parameter seconds: the time since the event's publication.
  func accepted(afterSeconds seconds: Double, _ span: Span?) { delay?.observe(max(0, seconds), of: span) }
  func gaveUp() { metrics.add(Self.givenUpName) }
  func couldNotOpen() { metrics.add(Self.openFailuresName) }
  func skipped() { metrics.add(Self.skippedName) }
  func ended(_ state: EndpointSettings.State) { metrics.add(Self.endedName, 1, [state.rawValue]) }

  func count(endpoints: Int, suspect: Int) {
    metrics.set(Self.endpointsName, Double(endpoints - suspect), ["working"])
    metrics.set(Self.endpointsName, Double(suspect), ["suspect"])
  }
}

extension PostOutcome {
  /// The outcome for metrics.
  var kind: PushMetrics.Outcome {
    switch self {
    case .answered(200..<300, _): .taken
    case .answered(300..<400, _): .redirected
    case .answered(410, _): .gone
    case .answered(429, _): .tooMany
    case .answered(500..., _): .serverError
    case .answered: .refused
    case .addressRefused: .address
    case .failed(.timedOut): .timeout
    case .failed(.tls): .tls
    case .failed: .connection
    }
  }

  /// The error for people, which `GetSubscription` returns as `lastError` of the endpoint's status.
  var text: String {
    switch self {
    case .answered(let status, _): "status \(status)"
    case .addressRefused: "the host's address is not allowed"
    case .failed(let error): "\(error)"
    }
  }
}
