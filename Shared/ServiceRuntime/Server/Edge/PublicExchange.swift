import AttributionProtocol
import Logging
import Synchronization
import Traces
import WireJSON

/// One request to the public port, from its head to its answer.
struct PublicExchange: HTTPExchange {
  let server: PublicServer
  let request: IncomingRequest
  let client: IPAddress?
  var peer: IPAddress? { client.flatMap { server.edge.isProxy($0) ? nil : $0 } }
  /// The state of the client's rate limit; nil if none applies.
  let rateLimitStatus: RateLimitStatus?
  let requestId: String
  /// The status instead of an error's usual one, if the route's senders retry only after that.
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
    // Apple's devices retry only after certain statuses, which depend on the route.
    case .timedOut:
      finish(
        .error(RPCError(.deadlineExceeded, "the body did not come in time"), status: retryStatus ?? 408))
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
    let trace = server.tracer.context(below: parent) { server.parents.take(now: WallClock.now()) }
    let span = server.tracer.span(
      "\(request.method) \(server.responder.template(of: request.path))", .server, trace, below: parent,
      [
        SpanAttribute("http.request.method", request.method), SpanAttribute("http.route", server.responder.template(of: request.path)),
        SpanAttribute("network.protocol.version", request.isHTTP2 ? "2" : "1.1"),
        SpanAttribute("http.request.body.size", .integer(Int64(bytes.count))),
      ] + RequestID.attribute(requestId, given: request.requestId), sinceStart: started.duration(to: .now))
    let asked = PublicHTTPRequest(
      method: request.method, path: request.path, query: request.query, mediaType: request.mediaType,
      contentType: request.contentType, body: bytes, peer: client, receivedAt: WallClock.now(), requestId: requestId,
      traceparent: trace.traceparent,
      jsonLimits: JSONLimits(depth: limits.jsonDepth, values: limits.jsonValues))
    let counting = CountOnce()
    return .waitingAtMost(server.answerTime, late: { finish(late, trace: trace, counts: counting.begin()) }) {
      guard let span else {
        let response = encoded(await server.responder.respond(to: asked))
        return finish(response, trace: trace, counts: counting.begin())
      }
      let response = await Span.$current.withValue(span) { await server.responder.respond(to: asked) }
      span.end(
        SpanAttribute("http.response.status_code", .integer(Int64(response.status))),
        error: response.status >= 500 ? String(response.status) : nil)
      return finish(encoded(response), span, trace: trace, counts: counting.begin())
    }
  }

  /// The response if the work is not done within ``PublicServer/answerTime``. The delivery may have been stored; then its repeat is a
  /// duplicate.
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

  /// - Parameter counts: false for the second of two responses, which is not sent.
  func finish(_ response: HTTPResponse, _ span: Span? = nil, trace: SpanContext? = nil, counts: Bool = true) -> HTTPResponse {
    var response = response
    response.requestId = requestId
    if let rateLimitStatus, let policy = server.edge.ratePolicy {
      response.headers.add(name: "ratelimit-policy", value: policy)
      response.headers.add(name: "ratelimit", value: rateLimitStatus.field)
    }
    guard counts else { return response }
    if response.status == 200 {
      server.ok?.add()
    } else {
      server.registry.add("attribution_public_requests_total", 1, [String(response.status)])
      log(response.status, trace)
    }
    server.duration?.observe(started.duration(to: .now) / .seconds(1), of: span)
    return response
  }

  /// Anyone can send requests that are refused, so only faults of this service are logged at the usual level.
  private func log(_ status: Int, _ trace: SpanContext?) {
    server.log.write(status >= 500 ? .warning : .debug, "a public request was answered") {
      var fields: Logger.Metadata = [
        "method": "\(request.method) \(server.responder.template(of: request.path))", "status": "\(status)",
      ]
      // A sender's own id may be the identifier of a device.
      if request.requestId == nil { fields["requestId"] = "\(requestId)" }
      if let id = (trace ?? request.traceparent.flatMap { SpanContext(traceparent: $0) })?.traceID { fields["traceId"] = "\(id.text)" }
      return fields
    }
  }
}

/// Makes metrics count only one of the two responses of a request: the one in time or the late one.
private final class CountOnce: Sendable {
  private let hasBegun = Atomic(false)

  /// True for the first caller.
  func begin() -> Bool { !hasBegun.exchange(true, ordering: .relaxed) }
}
