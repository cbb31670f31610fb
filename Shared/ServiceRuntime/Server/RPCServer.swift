import AttributionProtocol
import AttributionQueue
import Cryptography
import HTTPTypes
import Logging
import WireJSON

/// The internal port: RPC by Connect's unary protocol with JSON, health, metrics (`rpc-protocol.md`).
struct RPCServer: HTTPResponder {
  let endpoints: [String: RPCEndpoint]
  let callers: CallerDirectory
  let limits: Limits
  let pathPrefix: String
  let health: Health
  let metrics: RPCMetrics
  /// Nil where no Redis is configured: then keyed methods cannot be served.
  let idempotency: RPCIdempotencyStore?
  let logger: Logger

  func respond(to request: IncomingRequest, body: any BodyReader) async -> HTTPAnswer {
    let requestId = RequestID.usable(request.headers[.requestId])
    var answer: HTTPAnswer
    if let administrative = await health.answer(request, body: body) {
      answer = administrative
    } else {
      answer = await call(request, body, requestId: requestId)
    }
    answer.headers[.requestId] = requestId
    compress(&answer, request)
    return answer
  }

  // MARK: One call

  private func call(_ request: IncomingRequest, _ body: any BodyReader, requestId: String) async -> HTTPAnswer {
    guard request.path.hasPrefix(pathPrefix), let endpoint = endpoints[String(request.path.dropFirst(pathPrefix.count))]
    else {
      metrics.count(service: "unknown", method: "unknown", code: "not_found", seconds: 0)
      return HTTPAnswer(status: 404)
    }
    let started = ContinuousClock.now
    metrics.begin(endpoint.service)
    let (answer, code) = await dispatch(endpoint, request, body, requestId: requestId, started: started)
    metrics.end(
      endpoint.service, endpoint.name, code: code, seconds: started.duration(to: .now) / .seconds(1),
      bytes: answer.body.count)
    return answer
  }

  private func dispatch(
    _ endpoint: RPCEndpoint, _ request: IncomingRequest, _ body: any BodyReader, requestId: String,
    started: ContinuousClock.Instant
  ) async -> (HTTPAnswer, String) {
    var getAllowed = false
    if case .read(let allowed) = endpoint.idempotency { getAllowed = allowed }
    guard request.method == "POST" || request.method == "GET" && getAllowed else {
      return (HTTPAnswer(status: 405, headers: [.allow: getAllowed ? "GET, POST" : "POST"]), "unimplemented")
    }
    if request.method == "POST", request.mediaType != "application/json" {
      return (HTTPAnswer(status: 415, headers: [.acceptPost: "application/json"]), "unknown")
    }
    do throws(RPCError) {
      let caller = try authenticate(request, endpoint)
      if health.isDraining { throw .unavailable("this instance is ending", reason: "DRAINING") }
      if let version = request.headers[.connectProtocolVersion], version != "1" {
        throw RPCError(.invalidArgument, "Connect-Protocol-Version must be 1")
      }
      let limit = try timeLimit(request, endpoint)
      let bytes = try await readMessage(endpoint, request, body)
      let key = try idempotencyKey(endpoint, request)
      let context = RPCContext(
        caller: caller.name, requestId: requestId, traceparent: TraceContext.child(of: request.headers[.traceparent]),
        idempotencyKey: key, deadline: started + limit, limits: limits, logger: logger)
      return try await execute(endpoint, bytes, context)
    } catch {
      return (.error(error), error.code.rawValue)
    }
  }

  private func authenticate(_ request: IncomingRequest, _ endpoint: RPCEndpoint) throws(RPCError)
    -> CallerDirectory.Caller
  {
    guard let caller = callers.caller(authorization: request.headers[.authorization]) else {
      throw RPCError(.unauthenticated, "valid credentials are needed")
    }
    guard caller.may("\(endpoint.service)/\(endpoint.name)") else {
      throw RPCError(.permissionDenied, "this caller may not call this method", reason: "CALLER_NOT_ALLOWED")
    }
    return caller
  }

  private func timeLimit(_ request: IncomingRequest, _ endpoint: RPCEndpoint) throws(RPCError) -> Duration {
    guard let text = request.headers[.connectTimeout] else { return endpoint.timeLimit.default }
    guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let milliseconds = Int64(text)
    else {
      throw RPCError(.invalidArgument, "Connect-Timeout-Ms must be 1 to 10 digits")
    }
    guard milliseconds > 0 else { throw RPCError(.deadlineExceeded, "the time was over before the call began") }
    return min(.milliseconds(milliseconds), endpoint.timeLimit.maximum)
  }

  private func idempotencyKey(_ endpoint: RPCEndpoint, _ request: IncomingRequest) throws(RPCError) -> String? {
    if case .read = endpoint.idempotency { return nil }
    guard var text = request.headers[.idempotencyKey] else {
      if endpoint.idempotency == .keyed {
        throw RPCError(
          .invalidArgument, "this method needs an Idempotency-Key header", reason: "IDEMPOTENCY_KEY_REQUIRED")
      }
      return nil
    }
    if text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
    guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw RPCError(
        .invalidArgument, "Idempotency-Key must be 1 to 255 visible ASCII characters", reason: "IDEMPOTENCY_KEY_INVALID"
      )
    }
    return text
  }

  // MARK: Message

  private func readMessage(_ endpoint: RPCEndpoint, _ request: IncomingRequest, _ body: any BodyReader)
    async throws(RPCError) -> [UInt8]
  {
    let limit = endpoint.isBatch ? limits.batchBodyBytes : limits.bodyBytes
    if request.method == "GET" {
      return try QueryMessage(request.query ?? "", limit: limit, ratio: limits.gzipRatio).bytes
    }
    let tooLarge = RPCError(
      .resourceExhausted, "the request is larger than \(limit) bytes", reason: "REQUEST_TOO_LARGE")
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
    var bytes: [UInt8]
    do { bytes = try await body.read(limit: limit) } catch BodyError.tooLarge { throw tooLarge } catch {
      throw RPCError(.deadlineExceeded, "the body did not come in time")
    }
    switch request.headers[.contentEncoding]?.lowercased() {
    case nil, "identity": break
    case "gzip":
      if !bytes.isEmpty {
        do throws(Gzip.Failure) {
          bytes = try Gzip.inflate(bytes, limit: min(limit, max(bytes.count * limits.gzipRatio, 1024)))
        } catch {
          guard error == .tooLarge else { throw RPCError(.invalidArgument, "the body is not gzip") }
          throw RPCError(
            .resourceExhausted, "inflated, the request is larger than \(limit) bytes or than \(limits.gzipRatio) times what was sent",
            reason: "REQUEST_TOO_LARGE")
        }
      }
    default: throw RPCError(.unimplemented, "unknown content encoding; gzip and identity are accepted")
    }
    guard !bytes.isEmpty else { throw RPCError(.invalidArgument, "the body is empty; the empty message is {}") }
    return bytes
  }

  // MARK: Execution

  private func execute(_ endpoint: RPCEndpoint, _ bytes: [UInt8], _ context: RPCContext) async throws(RPCError) -> (
    HTTPAnswer, String
  ) {
    guard let call = endpoint.call else { throw .unimplemented("\(endpoint.name) is not built yet") }
    let jsonLimits = JSONLimits(
      depth: limits.jsonDepth, values: endpoint.isBatch ? limits.batchJSONValues : limits.jsonValues)
    guard let key = context.idempotencyKey else {
      return (.json(200, try await run(endpoint, call, bytes, jsonLimits, context)), "ok")
    }
    guard let idempotency else {
      throw .unavailable("no store for idempotency keys is configured", reason: "STORE_UNAVAILABLE")
    }
    let scope = "\(context.caller)\n\(endpoint.service)/\(endpoint.name)\n\(key)"
    let fingerprint = Hex.encode(SHA256Digest.hash(bytes))
    let owner: String
    switch try await claim(idempotency, scope, fingerprint, endpoint, context) {
    case .replay(let answer, let code):
      metrics.idempotency(endpoint.name, "replayed")
      return (answer, code)
    case .own(let name): owner = name
    }
    metrics.idempotency(endpoint.name, "new")
    do throws(RPCError) {
      let body = try await run(endpoint, call, bytes, jsonLimits, context)
      await settle { try await idempotency.finish(scope: scope, owner: owner, status: 200, code: "ok", body: body) }
      return (.json(200, body), "ok")
    } catch {
      if error.code.isSettled {
        await settle {
          try await idempotency.finish(
            scope: scope, owner: owner, status: error.code.httpStatus, code: error.code.rawValue, body: error.json)
        }
      } else {
        await settle { try await idempotency.release(scope: scope, owner: owner) }
      }
      throw error
    }
  }

  private enum Claimed {
    case own(String)
    case replay(HTTPAnswer, String)
  }

  /// Claims the key, waiting a moment for a call that holds it.
  private func claim(
    _ store: RPCIdempotencyStore, _ scope: String, _ fingerprint: String, _ endpoint: RPCEndpoint, _ context: RPCContext
  ) async throws(RPCError) -> Claimed {
    // Longer than the method may take, so that a key never changes hands under a call that still runs.
    let lease = max(.seconds(30), endpoint.timeLimit.maximum + .seconds(5))
    let until = min(ContinuousClock.now + .seconds(2), context.deadline)
    while true {
      let found: RPCClaim
      do throws(QueueError) {
        found = try await store.claim(scope: scope, fingerprint: fingerprint, lease: lease)
      } catch {
        throw .unavailable("the store for idempotency keys is away", reason: "STORE_UNAVAILABLE")
      }
      switch found {
      case .new(let owner): return .own(owner)
      case .reused:
        metrics.idempotency(endpoint.name, "reused")
        throw .failedPrecondition("this Idempotency-Key stands for another request", reason: "IDEMPOTENCY_KEY_REUSED")
      case .done(let status, let code, let body):
        var answer = HTTPAnswer.json(status, body)
        answer.headers[.idempotencyReplayed] = "true"
        return .replay(answer, code)
      case .running:
        guard ContinuousClock.now < until else {
          metrics.idempotency(endpoint.name, "in_progress")
          throw RPCError(
            .aborted, "a call with this Idempotency-Key is under way", reason: "IDEMPOTENCY_IN_PROGRESS",
            retryDelay: .seconds(1))
        }
        do { try await Task.sleep(for: .milliseconds(50)) } catch { throw RPCError(.canceled, "the caller went away") }
      }
    }
  }

  /// The store being away now must not turn an answer into an error: the lease frees the key, the effect is safe to repeat.
  private func settle(_ store: () async throws -> Void) async {
    do { try await store() } catch { logger.warning("an answer was not stored under its idempotency key") }
  }

  private func run(
    _ endpoint: RPCEndpoint,
    _ call: @escaping @Sendable ([UInt8], JSONLimits, RPCContext) async throws(RPCError) -> [UInt8],
    _ bytes: [UInt8], _ limits: JSONLimits, _ context: RPCContext
  ) async throws(RPCError) -> [UInt8] {
    if endpoint.isImmediate { return try await call(bytes, limits, context) }
    let result = await withTaskGroup(of: Result<[UInt8], RPCError>?.self) { group in
      group.addTask {
        do throws(RPCError) { return .success(try await call(bytes, limits, context)) } catch { return .failure(error) }
      }
      group.addTask {
        try? await Task.sleep(until: context.deadline, clock: .continuous)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    guard let result else { throw RPCError(.deadlineExceeded, "the time for this call is over") }
    return try result.get()
  }

  private func compress(_ answer: inout HTTPAnswer, _ request: IncomingRequest) {
    if request.method == "GET", answer.headers[.contentType] == "application/json" {
      answer.headers[.cacheControl] = "no-store"
      answer.headers[.vary] = "Accept-Encoding"
    }
    guard answer.body.count >= 1024 else { return }
    let accepted = request.headers[.acceptEncoding] ?? request.headers[.contentEncoding] ?? ""
    let takesGzip = accepted.split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.trimmingSpaces().lowercased() }
      return parts.first == "gzip" && !parts.dropFirst().contains { $0.replacing(" ", with: "") == "q=0" }
    }
    guard takesGzip, let small = Gzip.deflate(answer.body) else { return }
    answer.body = small
    answer.headers[.contentEncoding] = "gzip"
  }
}

extension RPCCode {
  /// Whether an error of this code depends on the request and settled state alone, so that a repeat may be answered the same.
  var isSettled: Bool {
    switch self {
    case .unavailable, .aborted, .resourceExhausted, .deadlineExceeded, .canceled, .unauthenticated, .permissionDenied,
      .unknown,
      .internal:
      false
    default: true
    }
  }
}
