public import AttributionProtocol
public import HTTPClient
import WireJSON

/// Calls methods of a service: unary Connect calls with JSON messages (`Documentation/rpc-reference.md`). The generated clients, such as
/// `SignerServiceClient`, have a function for each method.
///
/// ```swift
/// let keys = try await client.call(SignerService.ListSigningKeys.self, ListSigningKeysRequest(), timeout: .seconds(3)).keys
/// ```
public struct RPCClient: Sendable {
  private let baseURL: String
  private let token: String?
  private let http: any HTTPSender
  private let rule = RPCRetryRule()
  private let budget = RetryBudget()
  private let observer: (any CallObserver)?
  /// The time by which the server's timeout is shorter than the client's, so that the server's error arrives before the client gives up.
  private static let transmissionTime: Duration = .milliseconds(10)
  /// The greatest size of a response, bytes.
  private static let maxResponseBytes = 64 << 20

  /// - Parameters:
  ///   - baseURL: scheme, host, port and, if a proxy requires one, a path prefix.
  ///   - token: the bearer token; nil if the client certificate identifies the caller.
  ///   - observer: called for every call.
  public init(baseURL: String, token: String?, http: HTTPClient, observer: (any CallObserver)? = nil) {
    self.init(baseURL: baseURL, token: token, transport: http, observer: observer)
  }

  /// A client that sends its requests in another way, such as on the event loop of the caller or in a test.
  public init(baseURL: String, token: String?, transport http: any HTTPSender, observer: (any CallObserver)? = nil) {
    self.observer = observer
    self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    self.token = token
    self.http = http
  }

  /// Calls a method with options.
  public func call<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request, _ options: CallOptions)
    async throws(RPCError) -> Method.Response
  {
    try await call(
      method, request, idempotencyKey: options.idempotencyKey, timeout: options.timeout, traceparent: options.traceparent,
      requestId: options.requestId)
  }

  /// Calls a method and retries after temporary errors. ``CallOptions`` explains the parameters.
  ///
  /// If the method requires an idempotency key and none is given, all attempts have the same random key, so that the server executes the
  /// call once.
  public func call<Method: RPCMethod>(
    _ method: Method.Type, _ request: Method.Request, idempotencyKey: String? = nil, timeout: Duration? = nil,
    traceparent: String? = nil, requestId: String? = nil
  ) async throws(RPCError) -> Method.Response {
    let observed = observer?.begin(method)
    do throws(RPCError) {
      let response = try await attempts(
        method, request, idempotencyKey: idempotencyKey, timeout: timeout, traceparent: observed?.traceparent ?? traceparent,
        requestId: requestId, observed)
      observed?.end(nil)
      return response
    } catch {
      observed?.end(error.code)
      throw error
    }
  }

  private func attempts<Method: RPCMethod>(
    _ method: Method.Type, _ request: Method.Request, idempotencyKey: String?, timeout: Duration?, traceparent: String?, requestId: String?,
    _ observed: (any ObservedCall)?
  ) async throws(RPCError) -> Method.Response {
    let deadline = ContinuousClock.now + min(timeout ?? Method.timeLimit.default, Method.timeLimit.maximum)
    var key = idempotencyKey
    if key == nil, Method.idempotency == .keyed { key = Self.randomKey() }
    // All attempts send the same bytes, because the server compares a fingerprint of them.
    let body = request.json
    var headers = [("Content-Type", "application/json"), ("Connect-Protocol-Version", "1")]
    if let token { headers.append(("Authorization", "Bearer \(token)")) }
    if let key { headers.append(("Idempotency-Key", key)) }
    if let traceparent { headers.append(("traceparent", traceparent)) }
    if let requestId { headers.append(("X-Request-Id", requestId)) }
    budget.earn()
    var attempt = 1
    while true {
      let remaining = deadline - .now
      guard remaining > .zero else { throw RPCError(.deadlineExceeded, "no time is left for \(Method.name)") }
      let failure: RPCError
      do throws(RPCError) {
        return try await once(method, headers: headers, body: body, remaining: remaining)
      } catch {
        failure = error
      }
      guard
        let delay = rule.delay(
          after: failure, attempt: attempt, remaining: deadline - .now, random: Double.random(in: 0...1)),
        budget.spend()
      else { throw failure }
      do { try await Task.sleep(for: delay) } catch { throw RPCError(.canceled, "the call was cancelled") }
      attempt += 1
      observed?.retries(after: failure.code)
    }
  }

  /// 128 random bits in hexadecimal.
  private static func randomKey() -> String {
    var digits = ""
    for _ in 0..<2 {
      let part = String(UInt64.random(in: 0 ... .max), radix: 16)
      digits += String(repeating: "0", count: 16 - part.utf8.count) + part
    }
    return digits
  }

  /// Makes one attempt.
  private func once<Method: RPCMethod>(
    _ method: Method.Type, headers: [(String, String)], body: [UInt8], remaining: Duration
  ) async throws(RPCError) -> Method.Response {
    let serverTimeout = max(1, Int64((remaining - Self.transmissionTime) / .milliseconds(1)))
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: baseURL + Method.path, headers: headers + [("Connect-Timeout-Ms", String(serverTimeout))],
          body: body,
          timeout: remaining, maxResponseBytes: Self.maxResponseBytes))
    } catch {
      throw RPCError(error, calling: Method.name)
    }
    guard response.status == 200 else { throw RPCError(body: response.body, httpStatus: response.status) }
    do throws(JSONError) {
      return try Method.Response(response: response.body)
    } catch {
      throw RPCError(.internal, "the answer of \(Method.name) cannot be read: \(error)")
    }
  }
}

extension RPCError {
  /// The error of an attempt that got no usable response.
  init(_ error: HTTPClientError, calling method: String) {
    switch error {
    case .couldNotConnect, .connectionReset: self.init(.unavailable, "\(method): \(error)")
    case .timedOut: self.init(.deadlineExceeded, "\(method): no answer in time")
    case .cancelled: self.init(.canceled, "the call was cancelled")
    case .tooLarge: self.init(.resourceExhausted, "\(method): \(error)")
    case .tls, .badURL, .other: self.init(.unknown, "\(method): \(error)")
    }
  }
}
