import AttributionClient
import AttributionProtocol

/// The metrics `attribution_rpc_client_*` of the calls that this service makes to one other service of the deployment.
final class CallMetrics: Sendable {
  /// The labels that differ between the calls to one service.
  private struct Labels: Equatable, Sendable {
    let method: String
    let code: String
  }

  private static let requests = "attribution_rpc_client_requests_total"
  private static let duration = "attribution_rpc_client_duration_seconds"
  private static let retries = "attribution_rpc_client_retries_total"

  private let counts: KnownSeries<Labels>
  private let durations: KnownSeries<Labels>
  private let retryCounts: KnownSeries<Labels>

  /// The label `target` is the service's name and not its URL, so that the number of its values is limited.
  init(of target: ServiceName, _ registry: MetricsRegistry) {
    registry.counter(
      Self.requests, help: "Calls to other services, by result code; all attempts of a call count as one.",
      labels: ["target", "method", "code"])
    registry.histogram(
      Self.duration, help: "Time of a call to another service, including all its attempts.", labels: ["target", "method", "code"])
    registry.counter(
      Self.retries, help: "Repeated attempts of calls to other services, by the code of the attempt before.",
      labels: ["target", "method", "code"])
    func known(_ name: String) -> KnownSeries<Labels> {
      KnownSeries { registry.series(name, [target.rawValue, $0.method, $0.code]) }
    }
    counts = known(Self.requests)
    durations = known(Self.duration)
    retryCounts = known(Self.retries)
  }

  /// - Parameter failure: nil for a call that succeeded.
  func ended(_ method: String, _ failure: RPCCode?, seconds: Double) {
    let labels = Labels(method: method, code: failure?.rawValue ?? "ok")
    counts[labels]?.add()
    durations[labels]?.observe(seconds)
  }

  func retried(_ method: String, after failure: RPCCode) { retryCounts[Labels(method: method, code: failure.rawValue)]?.add() }
}

/// Counts and measures calls to another service of the deployment, and records their spans.
struct MeasuredCalls: CallObserver {
  let metrics: CallMetrics

  func begin(_ method: any RPCMethod.Type) -> (any ObservedCall)? {
    MeasuredCall(metrics: metrics, method: method.name, span: TracedCalls().begin(method))
  }
}

private struct MeasuredCall: ObservedCall {
  let metrics: CallMetrics
  let method: String
  /// Nil if the call is not traced.
  let span: (any ObservedCall)?
  let started = ContinuousClock.now

  var traceparent: String? { span?.traceparent }

  func retries(after failure: RPCCode) { metrics.retried(method, after: failure) }

  func end(_ failure: RPCCode?) {
    metrics.ended(method, failure, seconds: started.duration(to: .now) / .seconds(1))
    span?.end(failure)
  }
}
