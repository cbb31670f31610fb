/// The metrics of calls, under their names of `rpc-protocol.md` section 16.
struct RPCMetrics: Sendable {
  let registry: MetricsRegistry

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    registry.counter(
      "attribution_rpc_server_requests_total", help: "Calls by their outcome.", labels: ["service", "method", "code"])
    registry.histogram(
      "attribution_rpc_server_duration_seconds", help: "Time to answer.", labels: ["service", "method"])
    registry.gauge("attribution_rpc_server_in_flight", help: "Calls being answered.", labels: ["service"])
    registry.histogram(
      "attribution_rpc_server_response_bytes", help: "Size of answers.", labels: ["service", "method"],
      bounds: MetricsRegistry.sizeBounds)
    registry.counter(
      "attribution_idempotency_requests_total", help: "Calls with a key.", labels: ["method", "outcome"])
    registry.gauge("attribution_http_connections", help: "Open connections.", labels: ["protocol"])
    registry.counter(
      "attribution_http_rejected_total", help: "Requests refused below the RPC layer.", labels: ["cause"])
  }

  func begin(_ service: String) { registry.add("attribution_rpc_server_in_flight", 1, [service]) }

  func end(_ service: String, _ method: String, code: String, seconds: Double, bytes: Int) {
    registry.add("attribution_rpc_server_in_flight", -1, [service])
    registry.observe("attribution_rpc_server_response_bytes", Double(bytes), [service, method])
    count(service: service, method: method, code: code, seconds: seconds)
  }

  func count(service: String, method: String, code: String, seconds: Double) {
    registry.add("attribution_rpc_server_requests_total", 1, [service, method, code])
    registry.observe("attribution_rpc_server_duration_seconds", seconds, [service, method])
  }

  func idempotency(_ method: String, _ outcome: String) {
    registry.add("attribution_idempotency_requests_total", 1, [method, outcome])
  }
}
