import AttributionProtocol
import Logging
import Traces

/// The responder of the public port. It serves the routes of its ``PublicResponder``, and neither RPCs nor health checks nor metrics.
/// It decides by the request's head; then a ``PublicExchange`` takes the body, decompresses it and calls the responder.
struct PublicServer: HTTPResponder {
  /// The longest time from the end of a request's body to the response, so that the App Store has a response within five seconds even while
  /// Redis hangs.
  static let defaultAnswerTime: Duration = .milliseconds(4500)

  let responder: any PublicResponder
  let limits: Limits
  let answerTime: Duration
  let registry: MetricsRegistry
  /// The number of requests that were answered with 200.
  let ok: MetricSeries?
  let duration: MetricSeries?
  let edge: PublicEdgeGuard
  let tracer: Tracer
  /// Limits how many traces are recorded because a request asks for it in its `traceparent`.
  let parentRate: ParentRate
  let log: CallLog

  init(
    responder: any PublicResponder, limits: Limits, edge: EdgeSettings, registry: MetricsRegistry, tracer: Tracer, sampledParents: Int,
    logger: Logger, answerTime: Duration = PublicServer.defaultAnswerTime
  ) {
    self.answerTime = answerTime
    log = CallLog(logger)
    self.tracer = tracer
    parentRate = ParentRate(perSecond: sampledParents)
    self.responder = responder
    self.edge = PublicEdgeGuard(edge, registry)
    self.limits = limits
    self.registry = registry
    registry.counter("attribution_public_requests_total", help: "Requests to the public port.", labels: ["status"])
    registry.histogram("attribution_public_duration_seconds", help: "Time to answer a request on the public port.")
    ok = registry.series("attribution_public_requests_total", ["200"])
    duration = registry.series("attribution_public_duration_seconds")
  }

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    let client = edge.client(of: request)
    let route = responder.route(request.path)
    // Requests to unknown paths count against the client's rate too, so that scanning is limited.
    let (refusal, rateLimitStatus) = edge.decide(client, kind: route?.kind ?? "unknown")
    let exchange = PublicExchange(
      server: self, request: request, client: client.address, rateLimitStatus: rateLimitStatus, retryStatus: route?.retryStatus)
    if let refusal {
      let status = refusal.code == .resourceExhausted ? route?.retryStatus : nil
      return .response(exchange.finish(.error(refusal, status: status)))
    }
    guard let route, route.isServed else { return .response(exchange.finish(.error(.notFound("no such route"), status: 404))) }
    guard route.method == request.method else {
      var response = HTTPResponse.error(RPCError(.unimplemented, "this route needs the method \(route.method)"), status: 405)
      response.headers.add(name: "allow", value: route.method)
      return .response(exchange.finish(response))
    }
    return .body(limit: limits.publicBodyBytes, exchange)
  }
}
