import AttributionProtocol
import EventLoops
import Logging
import NIOCore
import NIOHTTP1
import Traces
import WireJSON

/// One RPC from its head to its response: ``admit()`` checks the head, ``respond(to:_:)`` runs the handler, and every response passes
/// `finish`.
final class RPCExchange: HTTPExchange {
  private let server: RPCServer
  private let route: RPCServer.Route
  private let request: IncomingRequest
  private let started = ContinuousClock.now
  private let requestId: String
  // Set by admit(), before other threads use the exchange.
  nonisolated(unsafe) private var caller: CallerDirectory.Caller?
  nonisolated(unsafe) private var timeLimit: Duration = .zero
  // Set in respond(to:_:), before other threads use the exchange.
  nonisolated(unsafe) private var span: Span?
  nonisolated(unsafe) private var traceID: TraceID?

  var deadline: ContinuousClock.Instant? { started + timeLimit }

  /// Work with an idempotency key goes on if the caller leaves, because a retry will ask for its response.
  var abandonment: Abandonment {
    if request.idempotencyKey != nil, !ignoresKeys { return .finishes }
    return endpoint.waits ? .isCancelledAtInputEnd : .isCancelled
  }

  /// True for a method that only reads, for which idempotency keys have no meaning.
  private var ignoresKeys: Bool { if case .read = endpoint.idempotency { true } else { false } }

  private var endpoint: RPCEndpoint { route.endpoint }
  private var limits: Limits { server.limits }

  init(server: RPCServer, route: RPCServer.Route, request: IncomingRequest) {
    self.server = server
    self.route = route
    self.request = request
    requestId = RequestID.usable(request.requestId)
  }

  // MARK: Head

  /// Authenticates and authorizes the caller, applies its rate limit, and determines the deadline.
  func admit() throws(RPCError) {
    guard
      let caller = server.callers.current.caller(
        authorization: request.authorization, certificateNames: request.peer.certificateNames)
    else {
      throw RPCError(.unauthenticated, "valid credentials are needed")
    }
    guard caller.may(endpoint.fullName) else {
      throw RPCError(.permissionDenied, "this caller may not call this method", reason: "CALLER_NOT_ALLOWED")
    }
    self.caller = caller
    if let rate = caller.rate, let wait = server.rates.take(.init(caller: caller.name, method: endpoint.fullName), rate) {
      server.metrics.rateLimited(endpoint.name)
      throw .rateLimited(wait)
    }
    if server.health.isEnding { throw .unavailable("this instance is shutting down", reason: "DRAINING") }
    if let version = request.connectVersion, version != "1" {
      throw RPCError(.invalidArgument, "Connect-Protocol-Version must be 1")
    }
    timeLimit = try requestedTimeLimit()
  }

  /// The time limit in `Connect-Timeout-Ms`, up to the method's maximum; without that header, the method's default.
  private func requestedTimeLimit() throws(RPCError) -> Duration {
    guard let text = request.connectTimeout else { return endpoint.timeLimit.default }
    guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let milliseconds = Int64(text)
    else {
      throw RPCError(.invalidArgument, "Connect-Timeout-Ms must be 1 to 10 digits")
    }
    guard milliseconds > 0 else { throw RPCError(.deadlineExceeded, "Connect-Timeout-Ms is 0, so the time was over before the call began") }
    return min(.milliseconds(milliseconds), endpoint.timeLimit.maximum)
  }

  // MARK: Body

  func refuse(_ error: BodyError) -> HTTPResponse {
    switch error {
    case .tooLarge:
      let limit = endpoint.isBatch ? limits.batchBodyBytes : limits.bodyBytes
      return finish(
        .error(RPCError(.resourceExhausted, "the request is larger than \(limit) bytes", reason: "REQUEST_TOO_LARGE")),
        code: RPCCode.resourceExhausted.rawValue)
    case .timedOut where .now >= started + timeLimit:
      return finish(.error(.timeIsOver), code: RPCCode.deadlineExceeded.rawValue)
    case .timedOut:
      return finish(
        .error(RPCError(.deadlineExceeded, "the body did not arrive in time"), status: 408),
        code: RPCCode.deadlineExceeded.rawValue)
    case .noRoom: return finish(.error(.noRoomForBodies), code: RPCCode.unavailable.rawValue)
    }
  }

  func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome {
    server.metrics.begin(route.metrics)
    do throws(RPCError) {
      let bytes = try message(body, reservation)
      server.metrics.received(route.metrics, bytes: bytes.count)
      guard let caller else { throw RPCError(.unauthenticated, "valid credentials are needed") }
      let now = ContinuousClock.now
      // Receiving the body may have taken until the deadline.
      guard now < started + timeLimit else { throw .timeIsOver }
      let trace = begin(caller, now)
      let context = RPCContext(
        caller: caller, requestId: requestId, trace: trace,
        idempotencyKey: try idempotencyKey(), deadline: started + timeLimit, server: server)
      let jsonLimits = JSONLimits(
        depth: limits.jsonDepth, values: endpoint.isBatch ? limits.batchJSONValues : limits.jsonValues)
      switch endpoint.call {
      case .unimplemented: throw .unimplemented("\(endpoint.name) is not implemented")
      case .immediate(let call) where context.idempotencyKey == nil:
        return .now(finish(.json(200, try call(bytes, jsonLimits, context)), code: "ok", wasInFlight: true))
      case .immediate(let call):
        return later(context, reservation) { [self] () async throws(RPCError) in
          try await runIdempotent(bytes, context) { () throws(RPCError) in try call(bytes, jsonLimits, context) }
        }
      case .coalescing(let call) where context.idempotencyKey == nil:
        let pending = try call(bytes, jsonLimits, context)
        return .coalesced(pending.work) { [self] in
          do throws(RPCError) {
            return finish(.json(200, try pending.response()), code: "ok", wasInFlight: true)
          } catch {
            return finish(.error(error), code: error.code.rawValue, wasInFlight: true)
          }
        }
      case .coalescing(let call):
        return later(context, reservation) { [self] () async throws(RPCError) in
          try await runIdempotent(bytes, context) { () throws(RPCError) in try call(bytes, jsonLimits, context).performAlone() }
        }
      case .suspending(let call):
        return later(context, reservation) { [self] () async throws(RPCError) in
          guard context.idempotencyKey != nil else { return (.json(200, try await call(bytes, jsonLimits, context)), "ok") }
          return try await runIdempotent(bytes, context) { () async throws(RPCError) in try await call(bytes, jsonLimits, context) }
        }
      }
    } catch {
      return .now(finish(.error(error), code: error.code.rawValue, wasInFlight: true))
    }
  }

  /// Determines the call's span context, and begins its span if the trace is recorded.
  private func begin(_ caller: CallerDirectory.Caller, _ now: ContinuousClock.Instant) -> SpanContext {
    let parent = request.traceparent.flatMap { SpanContext(traceparent: $0) }
    let trace = server.tracer.context(childOf: parent)
    traceID = trace.traceID
    span = server.tracer.span(
      endpoint.fullName, .server, trace, childOf: parent,
      [
        SpanAttribute("rpc.system.name", "connectrpc"), SpanAttribute("rpc.method", endpoint.fullName),
        SpanAttribute("attribution.caller", caller.name),
      ] + RequestID.attribute(requestId, given: request.requestId), sinceStart: started.duration(to: now))
    return trace
  }

  /// Runs the work within the call's span, and returns its completed response.
  private func runAndFinish(_ work: () async throws(RPCError) -> (HTTPResponse, String)) async -> HTTPResponse {
    guard let span else { return await runAndFinishUntraced(work) }
    return await Span.$current.withValue(span) { await runAndFinishUntraced(work) }
  }

  private func runAndFinishUntraced(_ work: () async throws(RPCError) -> (HTTPResponse, String)) async -> HTTPResponse {
    do throws(RPCError) {
      let (response, code) = try await work()
      return finish(response, code: code, wasInFlight: true)
    } catch {
      return finish(.error(error), code: error.code.rawValue, wasInFlight: true)
    }
  }

  /// Completes the response: counts and logs the call, ends its span, and adds the request's id.
  ///
  /// - Parameter wasInFlight: true if the call was counted as being processed.
  func finish(_ response: HTTPResponse, code: String, wasInFlight: Bool = false) -> HTTPResponse {
    var response = response
    server.metrics.end(
      route.metrics, code: code, seconds: started.duration(to: .now) / .seconds(1), bytes: response.body.count,
      wasInFlight: wasInFlight, span: span)
    if let span {
      if code != "ok" { span.set(SpanAttribute("rpc.response.status_code", code)) }
      span.end(error: RPCExchange.faults.contains(code) ? code : nil)
    }
    if code != "ok" {
      log(response.status >= 500 ? .warning : .info, code)
    } else if server.log.writesAll {
      log(.debug, code)
    }
    response.requestId = requestId
    ResponseCompression.apply(&response, request)
    return response
  }

  private func log(_ level: Logger.Level, _ code: String) {
    server.log.write(level, "a call was answered") {
      var fields: Logger.Metadata = ["requestId": "\(requestId)", "method": "\(endpoint.fullName)", "code": "\(code)"]
      // The log handler writes the trace id itself if there is a current span.
      if Span.current == nil, let id = traceID ?? request.traceparent.flatMap({ SpanContext(traceparent: $0) })?.traceID {
        fields["traceId"] = "\(id.text)"
      }
      return fields
    }
  }

  /// The codes with which a span counts as failed, because the fault is the server's and not the caller's.
  private static let faults: Set<String> = ["unknown", "deadline_exceeded", "unimplemented", "internal", "unavailable", "data_loss"]

  // MARK: Message

  /// The message in the body, inflated, or in the query of a GET.
  private func message(_ body: [UInt8], _ reservation: BodyReservation) throws(RPCError) -> [UInt8] {
    let limit = endpoint.isBatch ? limits.batchBodyBytes : limits.bodyBytes
    if request.method == "GET" {
      return try QueryMessage(request.query ?? "", limit: limit, ratio: limits.gzipRatio, reservation: reservation).bytes
    }
    var bytes = body
    switch request.contentEncoding?.lowercased() {
    case nil, "identity": break
    case "gzip":
      if !bytes.isEmpty {
        do throws(Gzip.Failure) {
          bytes = try Gzip.inflate(bytes, limit: limit, ratio: limits.gzipRatio, on: reservation)
        } catch {
          switch error {
          case .malformed: throw RPCError(.invalidArgument, "the body is not gzip")
          case .noRoom: throw .noRoomForBodies
          case .tooLarge:
            throw RPCError(
              .resourceExhausted,
              "after inflation, the request is larger than \(limit) bytes or than \(limits.gzipRatio) times its compressed size",
              reason: "REQUEST_TOO_LARGE")
          }
        }
      }
    default: throw RPCError(.unimplemented, "unknown content encoding; gzip and identity are accepted")
    }
    guard !bytes.isEmpty else { throw RPCError(.invalidArgument, "the body is empty; the empty message is {}") }
    return bytes
  }

  private func idempotencyKey() throws(RPCError) -> String? {
    if ignoresKeys { return nil }
    if let header = request.idempotencyKey { return try IdempotencyKey(header: header).text }
    if endpoint.idempotency == .keyed { throw IdempotencyKey.missing }
    return nil
  }

  // MARK: Execution

  /// Runs the work as an ``IdempotentCall``.
  private func runIdempotent(
    _ bytes: [UInt8], _ context: RPCContext, _ work: () async throws(RPCError) -> [UInt8]
  ) async throws(RPCError) -> (HTTPResponse, String) {
    guard let store = server.idempotency else {
      throw .unavailable("no store for idempotency keys is configured", reason: "STORE_UNAVAILABLE")
    }
    return try await IdempotentCall(store: store, endpoint: endpoint, context: context, metrics: server.metrics).run(bytes, work)
  }

  /// The work as a ``TimedCall``: it runs in a task, and is answered at the deadline at the latest. The body's memory stays reserved until
  /// the work ends, which may be after the response.
  private func later(
    _ context: RPCContext, _ reservation: BodyReservation, _ work: @escaping @Sendable () async throws(RPCError) -> TimedCall.Answer
  ) -> HTTPOutcome {
    let call = TimedCall(deadline: context.deadline)
    LoopDeadlines.add(call)
    let work = { @Sendable () async throws(RPCError) -> TimedCall.Answer in
      defer { withExtendedLifetime(reservation) {} }
      return try await work()
    }
    guard endpoint.waits else {
      return .later { [self] in await runAndFinish { () async throws(RPCError) in try await call.answer(work) } }
    }
    server.waiting.add(call)
    return .later { [self] in
      let response = await runAndFinish { () async throws(RPCError) in try await call.answer(work) }
      server.waiting.remove(call)
      return response
    }
  }
}
