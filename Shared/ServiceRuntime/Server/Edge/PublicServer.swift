import AttributionProtocol
import Logging
import Traces

/// The public port. It serves neither RPCs nor health nor metrics.
struct PublicServer: HTTPResponder {
  /// The longest time from a request's body to its answer. It is less than five seconds, so that the App Store has an answer within five
  /// seconds also while Redis hangs.
  static let defaultAnswerTime: Duration = .milliseconds(4500)

  let responder: any PublicResponder
  let limits: Limits
  let answerTime: Duration
  let registry: MetricsRegistry
  let ok: MetricSeries?
  let duration: MetricSeries?
  let edge: PublicEdgeGuard
  let tracer: Tracer
  /// Limits how many traces callers on the public port may have recorded.
  let parents: ParentRate
  let log: CallLog

  init(
    responder: any PublicResponder, limits: Limits, edge: EdgeSettings, registry: MetricsRegistry, tracer: Tracer, sampledParents: Int,
    logger: Logger, answerTime: Duration = PublicServer.defaultAnswerTime
  ) {
    self.answerTime = answerTime
    log = CallLog(logger)
    self.tracer = tracer
    parents = ParentRate(perSecond: sampledParents)
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
    let (refusal, rateLimitStatus) = edge.decide(client, hasUnknownAddress: request.peer.hasUnknownAddress, kind: route?.kind ?? "unknown")
    let exchange = PublicExchange(
      server: self, request: request, client: client, rateLimitStatus: rateLimitStatus, retryStatus: route?.retryStatus)
    if let refusal {
      let status = refusal.code == .resourceExhausted ? route?.retryStatus : nil
      return .response(exchange.finish(.error(refusal, status: status)))
    }
    guard let route, route.isServed else { return .response(exchange.finish(.error(.notFound("no such route"), status: 404))) }
    guard route.method == request.method else {
      var response = HTTPResponse.error(RPCError(.unimplemented, "this route takes \(route.method)"), status: 405)
      response.headers.add(name: "allow", value: route.method)
      return .response(exchange.finish(response))
    }
    return .body(limit: limits.publicBodyBytes, exchange)
  }
}
