import AttributionProtocol
import AttributionQueue
import Logging
import NIOHTTP1
import Traces

/// The responder of the internal port. It serves RPCs by Connect's unary protocol with JSON (``RPCExchange``), health checks and metrics
/// (`AdministrativePaths.swift`), and HTML pages (``InternalPages``).
final class RPCServer: HTTPResponder {
  /// A method and its metrics.
  final class Route: Sendable {
    let endpoint: RPCEndpoint
    let metrics: RPCMetrics.Method

    init(endpoint: RPCEndpoint, metrics: RPCMetrics.Method) {
      self.endpoint = endpoint
      self.metrics = metrics
    }
  }

  let callers: LiveCallers
  let rates = CallerRates()
  /// The calls that ``DrainGate`` ends at the end of the service.
  let waiting = WaitingCalls()
  let limits: Limits
  let health: Health
  let metrics: RPCMetrics
  /// Nil if no Redis is configured; calls with an idempotency key fail then.
  let idempotency: RPCIdempotencyStore?
  let tracer: Tracer
  let logger: Logger
  let log: CallLog
  private let pages: (any InternalPages)?
  /// The routes by their path, including the prefix.
  private let routes: [String: Route]

  private let pathPrefix: String
  /// The response for a path that is neither a method nor a page. Its status is 404, from which clients of Connect also infer
  /// `unimplemented`.
  private let unknownPath: HTTPResponse

  /// - Parameter endpoints: the endpoints by their path, without the prefix.
  init(
    endpoints: [String: RPCEndpoint], callers: LiveCallers, limits: Limits, pathPrefix: String, health: Health,
    metrics: RPCMetrics, idempotency: RPCIdempotencyStore?, tracer: Tracer, logger: Logger, pages: (any InternalPages)? = nil
  ) {
    self.pages = pages
    self.pathPrefix = pathPrefix
    self.callers = callers
    self.limits = limits
    self.health = health
    self.metrics = metrics
    self.idempotency = idempotency
    self.tracer = tracer
    self.logger = logger
    log = CallLog(logger)
    var routes: [String: Route] = [:]
    for (path, endpoint) in endpoints {
      routes[pathPrefix + path] = Route(
        endpoint: endpoint, metrics: metrics.method(service: endpoint.service, name: endpoint.name))
    }
    self.routes = routes
    let services = Set(routes.values.map(\.endpoint.service)).sorted().joined(separator: ", ")
    unknownPath = .error(RPCError(.unimplemented, "no such method or page; the RPC services here are: \(services)"), status: 404)
  }

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    if let route = routes[request.path] { return admit(request, route) }
    if let administrative = health.admission(request) { return administrative.addingRequestID(of: request) }
    if let admission = pages?.admission(request, PageAccess(server: self)) { return admission.addingRequestID(of: request) }
    metrics.unknownMethod()
    return RequestAdmission.response(unknownPath).addingRequestID(of: request)
  }

  /// The endpoint of a path without the prefix.
  func endpoint(_ path: String) -> RPCEndpoint? { routes[pathPrefix + path]?.endpoint }

  /// Checks everything that depends only on the head, before the body is read.
  private func admit(_ request: IncomingRequest, _ route: Route) -> RequestAdmission {
    let call = RPCExchange(server: self, route: route, request: request)
    let endpoint = route.endpoint
    var getAllowed = false
    if case .read(let allowed) = endpoint.idempotency { getAllowed = allowed }
    guard request.method == "POST" || request.method == "GET" && getAllowed else {
      return .response(
        call.finish(HTTPResponse(status: 405, headers: ["allow": getAllowed ? "GET, POST" : "POST"]), code: "unknown"))
    }
    if request.method == "POST", request.mediaType != "application/json" {
      return .response(call.finish(HTTPResponse(status: 415, headers: ["accept-post": "application/json"]), code: "unknown"))
    }
    do throws(RPCError) {
      try call.admit()
    } catch {
      return .response(call.finish(.error(error), code: error.code.rawValue))
    }
    return .body(limit: endpoint.isBatch ? limits.batchBodyBytes : limits.bodyBytes, call)
  }
}
