import AttributionProtocol
import Logging
import Synchronization
import Traces
import WireJSON

/// One request to the public port, from its head to its response.
struct PublicExchange: HTTPExchange {
  let server: PublicServer
  let request: IncomingRequest
  let client: IPAddress?
  /// Nil if the client is a trusted proxy, whose connections carry the requests of many clients.
  var peer: IPAddress? { client.flatMap { server.edge.isProxy($0) ? nil : $0 } }
  /// The state of the client's rate limit; nil if no limit applies.
  let rateLimitStatus: RateLimitStatus?
  let requestId: String
  /// The status of errors after which the sender should retry, if the route's senders do not retry after the usual statuses.
  let retryStatus: Int?
  let started = ContinuousClock.now

  init(server: PublicServer, request: IncomingRequest, client: IPAddress?, rateLimitStatus: RateLimitStatus?, retryStatus: Int?) {
    self.rateLimitStatus = rateLimitStatus
    self.retryStatus = retryStatus
    self.client = client
    self.server = server
    self.request = request
    requestId = RequestID.usable(request.requestId)
  }

  func refuse(_ error: BodyError) -> HTTPResponse {
    switch error {
    case .tooLarge: finish(tooLarge)
    case .timedOut:
      // Apple's devices retry only after certain statuses, which depend on the route.
      finish(
        .error(RPCError(.deadlineExceeded, "the body did not arrive in time"), status: retryStatus ?? 408))
    case .noRoom: finish(.error(.noRoomForBodies, status: retryStatus))
    }
  }

  private var tooLarge: HTTPResponse {
    .error(
      RPCError(
        .resourceExhausted, "the body is larger than \(server.limits.publicBodyBytes) bytes", reason: "REQUEST_TOO_LARGE"),
      status: 413)
  }

  func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome {
    var bytes = body
    let limits = server.limits
    switch request.contentEncoding?.lowercased() {
    case nil, "identity": break
    case "gzip":
      do throws(Gzip.Failure) {
        bytes = try Gzip.inflate(bytes, limit: limits.publicBodyBytes, ratio: limits.gzipRatio, on: reservation)
      } catch {
        switch error {
        case .tooLarge: return .now(refuse(.tooLarge))
        case .noRoom: return .now(refuse(.noRoom))
        case .malformed: return .now(finish(.error(RPCError(.invalidArgument, "the body is not gzip"), status: 400)))
        }
      }
    default:
      return .now(
        finish(
          .error(RPCError(.unimplemented, "unknown content encoding; gzip and identity are accepted"), status: 415)))
    }
    let parent = request.traceparent.flatMap { SpanContext(traceparent: $0) }
    let trace = server.tracer.context(childOf: parent) { server.parentRate.take(now: WallClock.now()) }
    let span = server.tracer.span(
      "\(request.method) \(server.responder.template(of: request.path))", .server, trace, childOf: parent,
      [
        SpanAttribute("http.request.method", request.method), SpanAttribute("http.route", server.responder.template(of: request.path)),
        SpanAttribute("network.protocol.version", request.isHTTP2 ? "2" : "1.1"),
        SpanAttribute("http.request.body.size", .integer(Int64(bytes.count))),
      ] + RequestID.attribute(requestId, given: request.requestId), sinceStart: started.duration(to: .now))
    let publicRequest = PublicHTTPRequest(
      method: request.method, path: request.path, query: request.query, mediaType: request.mediaType,
      contentType: request.contentType, body: bytes, peer: client, receivedAt: WallClock.now(), requestId: requestId,
      traceparent: trace.traceparent,
      jsonLimits: JSONLimits(depth: limits.jsonDepth, values: limits.jsonValues))
    let firstResponse = FirstResponse()
    return .waitingAtMost(server.answerTime, late: { finish(late, trace: trace, isCounted: firstResponse.claim()) }) {
      guard let span else {
        let response = encoded(await server.responder.respond(to: publicRequest))
        return finish(response, trace: trace, isCounted: firstResponse.claim())
      }
      let response = await Span.$current.withValue(span) { await server.responder.respond(to: publicRequest) }
      span.end(
        SpanAttribute("http.response.status_code", .integer(Int64(response.status))),
        error: response.status >= 500 ? String(response.status) : nil)
      return finish(encoded(response), span, trace: trace, isCounted: firstResponse.claim())
    }
  }

  /// The response if the work has not ended within ``PublicServer/answerTime``. If the delivery was stored, its repeat is a duplicate.
  private var late: HTTPResponse {
    .error(
      .unavailable("the request was not answered in time; send it again", reason: "NOT_ANSWERED_IN_TIME", retryAfter: .seconds(5)),
      status: retryStatus)
  }

  private func encoded(_ response: PublicHTTPResponse) -> HTTPResponse {
    var encoded = HTTPResponse.json(response.status, response.body)
    for (name, value) in response.headers { encoded.headers.replaceOrAdd(name: name, value: value) }
    return encoded
  }

  /// Completes the response, and counts and logs it.
  ///
  /// - Parameter isCounted: false for the second response of a request, which is not sent.
  func finish(_ response: HTTPResponse, _ span: Span? = nil, trace: SpanContext? = nil, isCounted: Bool = true) -> HTTPResponse {
    var response = response
    response.requestId = requestId
    if let rateLimitStatus, let policy = server.edge.ratePolicy {
      response.headers.add(name: "ratelimit-policy", value: policy)
      response.headers.add(name: "ratelimit", value: rateLimitStatus.field)
    }
    guard isCounted else { return response }
    if response.status == 200 {
      server.ok?.add()
    } else {
      server.registry.add("attribution_public_requests_total", 1, [String(response.status)])
      log(response.status, trace)
    }
    server.duration?.observe(started.duration(to: .now) / .seconds(1), of: span)
    return response
  }

  /// Anyone can send requests that are refused, so these are logged with level debug. Faults of this service are warnings.
  private func log(_ status: Int, _ trace: SpanContext?) {
    server.log.write(status >= 500 ? .warning : .debug, "a public request was answered") {
      var fields: Logger.Metadata = [
        "method": "\(request.method) \(server.responder.template(of: request.path))", "status": "\(status)",
      ]
      // A request id from the sender is not logged, because it may identify a device.
      if request.requestId == nil { fields["requestId"] = "\(requestId)" }
      if let id = (trace ?? request.traceparent.flatMap { SpanContext(traceparent: $0) })?.traceID { fields["traceId"] = "\(id.text)" }
      return fields
    }
  }
}

/// Tells which of a request's two possible responses is made first: the work's or the late one. Only that one is sent and counted.
private final class FirstResponse: Sendable {
  private let isClaimed = Atomic(false)

  /// True for the first call.
  func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }
}
