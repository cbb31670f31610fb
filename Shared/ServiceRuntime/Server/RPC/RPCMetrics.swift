import Traces

/// The metrics of RPCs, `attribution_rpc_server_*`, and of HTTP connections.
struct RPCMetrics: Sendable {
  /// The metric series of one method.
  struct Method: Sendable {
    let service: String
    let name: String
    fileprivate let inFlight: MetricSeries?
    fileprivate let duration: MetricSeries?
    fileprivate let requestBytes: MetricSeries?
    fileprivate let responseBytes: MetricSeries?
    fileprivate let ok: MetricSeries?
  }

  let registry: MetricsRegistry

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    registry.counter(
      "attribution_rpc_server_requests_total", help: "Calls by result code.", labels: ["service", "method", "code"])
    registry.histogram(
      "attribution_rpc_server_duration_seconds", help: "Time to answer a call.", labels: ["service", "method"])
    registry.gauge("attribution_rpc_server_in_flight", help: "Calls that are being processed.", labels: ["service"])
    registry.histogram(
      "attribution_rpc_server_request_bytes", help: "Size of requests in bytes, without compression.", labels: ["service", "method"],
      bounds: MetricsRegistry.sizeBounds)
    registry.histogram(
      "attribution_rpc_server_response_bytes", help: "Size of answers in bytes, without compression.", labels: ["service", "method"],
      bounds: MetricsRegistry.sizeBounds)
    registry.counter(
      "attribution_idempotency_requests_total", help: "Calls with an idempotency key.", labels: ["method", "outcome"])
    registry.counter("attribution_rate_limited_total", help: "Requests that exceeded their caller's rate limit.", labels: ["method"])
    registry.gauge("attribution_http_connections", help: "Open connections.", labels: ["protocol"])
    registry.counter(
      "attribution_http_rejected_total", help: "Requests that were refused before they reached the RPC layer.", labels: ["cause"])
  }

  func method(service: String, name: String) -> Method {
    Method(
      service: service, name: name, inFlight: registry.series("attribution_rpc_server_in_flight", [service]),
      duration: registry.series("attribution_rpc_server_duration_seconds", [service, name]),
      requestBytes: registry.series("attribution_rpc_server_request_bytes", [service, name]),
      responseBytes: registry.series("attribution_rpc_server_response_bytes", [service, name]),
      ok: registry.series("attribution_rpc_server_requests_total", [service, name, "ok"]))
  }

  /// Counts a call that is being processed.
  func begin(_ method: Method) { method.inFlight?.add(1) }

  /// - Parameter bytes: the size of the message after inflation.
  func received(_ method: Method, bytes: Int) { method.requestBytes?.observe(Double(bytes)) }

  /// - Parameter wasInFlight: true if ``begin(_:)`` was called. It is not called for calls that are refused because of their head.
  func end(_ method: Method, code: String, seconds: Double, bytes: Int, wasInFlight: Bool, span: Span? = nil) {
    if wasInFlight { method.inFlight?.add(-1) }
    method.responseBytes?.observe(Double(bytes))
    method.duration?.observe(seconds, of: span)
    if code == "ok" {
      method.ok?.add()
    } else {
      registry.add("attribution_rpc_server_requests_total", 1, [method.service, method.name, code])
    }
  }

  func unknownMethod() {
    registry.add("attribution_rpc_server_requests_total", 1, ["unknown", "unknown", "unimplemented"])
  }

  func rateLimited(_ method: String) { registry.add("attribution_rate_limited_total", 1, [method]) }

  func idempotency(_ method: String, _ outcome: String) {
    registry.add("attribution_idempotency_requests_total", 1, [method, outcome])
  }
}
