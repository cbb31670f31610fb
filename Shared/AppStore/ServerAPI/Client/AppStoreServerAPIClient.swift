public import HTTPClient
import Synchronization
public import WireJSON

#if canImport(Glibc)
  import Glibc
#endif

/// Apple's answer, and the server that gave it.
public struct AppStoreServerResponse: Sendable, Hashable {
  public let server: AppStoreServer
  /// Apple's body, unchanged; empty if there is none.
  public let body: JSONObject

  public init(server: AppStoreServer, body: JSONObject) {
    self.server = server
    self.body = body
  }
}

/// A client of the App Store Server API. It handles tokens, errors, retries, and the pauses that Apple asks for.
///
/// It verifies nothing; JWS are returned unchanged.
public final class AppStoreServerAPIClient: Sendable {
  /// Makes the bearer token for an app (by bundle id) with one of its keys; nil if the app has no such key. `deadline` is that of the call.
  public typealias TokenProvider =
    @Sendable (
      _ bundleId: String, _ server: AppStoreServer, _ key: AppStoreServerKey, _ deadline: ContinuousClock.Instant
    ) async throws(AppStoreServerAPIError) -> String?

  private struct Bucket: Hashable {
    let bundleId: String
    let server: AppStoreServer
    let endpoint: AppStoreServerEndpoint
  }

  private let http: HTTPClient
  private let baseURLs: [AppStoreServer: String]
  private let retryRule: AppStoreServerRetryRule
  private let timeout: Duration
  private let token: TokenProvider
  private let pacing: (any AppStoreServerPacing)?
  /// The time until which an app must not call an endpoint, milliseconds since 1970.
  private let paused = Mutex<[Bucket: Int64]>([:])
  private let acceptedKeys = AcceptedKeys()
  private let sandboxProbes = SandboxProbes()
  private let keyRefused: @Sendable (String, AppStoreServer, AppStoreServerKey) -> Void

  /// - Parameters:
  ///   - timeout: of one request.
  ///   - pacing: nil: only Apple's 429 is respected.
  ///   - keyRefused: called when Apple refuses a key and the call is repeated with the app's other key.
  public init(
    http: HTTPClient, baseURLs: [AppStoreServer: String] = [:], retryRule: AppStoreServerRetryRule = AppStoreServerRetryRule(),
    timeout: Duration = .seconds(30), pacing: (any AppStoreServerPacing)? = nil,
    keyRefused: @escaping @Sendable (_ bundleId: String, _ server: AppStoreServer, _ key: AppStoreServerKey) -> Void = { _, _, _ in },
    token: @escaping TokenProvider
  ) {
    self.http = http
    self.baseURLs = baseURLs.mapValues { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.retryRule = retryRule
    self.timeout = timeout
    self.pacing = pacing
    self.keyRefused = keyRefused
    self.token = token
  }

  /// Calls one endpoint.
  ///
  /// - Parameters:
  ///   - path: the values in the path, in order.
  ///   - server: nil calls production first, and the sandbox if production does not know the id. For an app that was never released,
  ///     production answers 401 even with the right key; then the sandbox is called too. If the caller names production, the sandbox is
  ///     asked only whether it accepts the key, and the error says so.
  ///   - deadline: the call ends by this time.
  public func call(
    _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer?, path: [String] = [], query: [(String, String)] = [],
    body: [UInt8]? = nil, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerResponse {
    let first = server ?? .production
    let target: String
    do throws(RequestRefusal) {
      guard endpoint.exists(on: first) else {
        throw RequestRefusal(field: "environment", "the endpoint exists in \(first == .sandbox ? "production" : "the sandbox") only")
      }
      target = try endpoint.path(path) + PercentEncoding.query(query)
    } catch {
      throw AppStoreServerAPIError(.permanent, message: "\(error)", server: first)
    }
    let probes = server == nil && endpoint.exists(on: .sandbox)
    let refusal: AppStoreServerAPIError
    do throws(AppStoreServerAPIError) {
      return try await ask(endpoint, bundleId, first, target, body, mayTryOther: probes, deadline)
    } catch {
      guard probes else { throw await explained(error, bundleId, deadline) }
      guard error.classification == .tryOtherEnvironment || error.classification == .credentials else { throw error }
      refusal = error
    }
    do throws(AppStoreServerAPIError) {
      return try await ask(endpoint, bundleId, .sandbox, target, body, mayTryOther: false, deadline)
    } catch {
      let verdict = AppStoreServerAPIErrorRule.verdict(production: refusal, sandbox: error)
      guard verdict == refusal, refusal.classification == .credentials, AppStoreServerAPIErrorRule.isTokenAccepted(error) == true else {
        throw verdict
      }
      throw AppStoreServerAPIErrorRule.notReleased(status: refusal.status)
    }
  }

  /// The error of a call to one server. If production refused the key, the sandbox is asked once an hour whether it accepts it.
  private func explained(
    _ error: AppStoreServerAPIError, _ bundleId: String, _ deadline: ContinuousClock.Instant
  ) async -> AppStoreServerAPIError {
    guard error.classification == .credentials, error.server == .production else { return error }
    let isAccepted: Bool
    if let known = sandboxProbes.begin(bundleId) {
      isAccepted = known
    } else {
      let answer = await sandboxAcceptsKey(bundleId, min(deadline, ContinuousClock.now + SandboxProbes.timeout))
      sandboxProbes.end(bundleId, isAccepted: answer)
      isAccepted = answer ?? false
    }
    return isAccepted ? AppStoreServerAPIErrorRule.notReleased(status: error.status) : error
  }

  /// Requests a transaction that does not exist from the sandbox. Returns true if its answer shows that it accepts the app's key; nil
  /// without a useful answer.
  private func sandboxAcceptsKey(_ bundleId: String, _ deadline: ContinuousClock.Instant) async -> Bool? {
    let endpoint = AppStoreServerEndpoint.getTransactionInfo
    guard let target = try? endpoint.path(["0"]) else { return nil }
    do throws(AppStoreServerAPIError) {
      _ = try await ask(endpoint, bundleId, .sandbox, target, nil, mayTryOther: false, deadline)
      return true
    } catch {
      return AppStoreServerAPIErrorRule.isTokenAccepted(error)
    }
  }

  /// One page of Get Notification History.
  public func notificationHistory(
    _ request: NotificationHistoryRequest, bundleId: String, server: AppStoreServer, paginationToken: String?,
    deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> NotificationHistoryPage {
    let response = try await call(
      .getNotificationHistory, bundleId: bundleId, server: server, query: paginationToken.map { [("paginationToken", $0)] } ?? [],
      body: request.body, deadline: deadline)
    guard let page = NotificationHistoryPage(response.body) else {
      throw AppStoreServerAPIError(.server, status: 200, message: "the answer is no page of notifications", server: server)
    }
    return page
  }

  private func ask(
    _ endpoint: AppStoreServerEndpoint, _ bundleId: String, _ server: AppStoreServer, _ target: String, _ body: [UInt8]?,
    mayTryOther: Bool, _ deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerResponse {
    let bucket = Bucket(bundleId: bundleId, server: server, endpoint: endpoint)
    var attempt = 1
    var key = acceptedKeys.key(bundleId, server)
    // Apple's refusal of the first key that was tried.
    var refusal: AppStoreServerAPIError?
    while true {
      let failure: AppStoreServerAPIError
      var isSent = false
      do throws(AppStoreServerAPIError) {
        try refuseWhilePaused(bucket)
        let bearer = try await self.bearer(bundleId, server, &key, deadline)
        let permit = try await pacing?.permit(endpoint, bundleId: bundleId, server: server, deadline: deadline)
        // A timeout that is shorter than usual because of the caller says nothing about Apple.
        let isHurried = deadline - .now < timeout
        do throws(AppStoreServerAPIError) {
          isSent = deadline > .now
          let response = try await once(bucket, bearer, target, body, mayTryOther: mayTryOther, deadline)
          await permit?.end(.answered)
          accepted(key, bundleId, server, afterRefusal: refusal != nil)
          return response
        } catch {
          let isCutShort = isHurried && error.status == nil && ContinuousClock.now >= deadline - .milliseconds(2)
          await permit?.end(isCutShort ? .abandoned : Self.result(of: error))
          throw error
        }
      } catch {
        failure = error
      }
      if AppStoreServerAPIErrorRule.isTokenAccepted(failure) == true { accepted(key, bundleId, server, afterRefusal: refusal != nil) }
      if let refusal {
        // Without a second request, Apple's answer to the first one is the result.
        guard isSent else { throw refusal }
      } else if failure.classification == .credentials, await hasKey(key.counterpart, bundleId, server, deadline) {
        // While a key is replaced, Apple may accept only one of the two. This is not a repeated attempt.
        keyRefused(bundleId, server, key)
        refusal = failure
        key = key.counterpart
        continue
      }
      // Only Apple's answer pauses all requests; our own limit refuses just this one.
      if failure.status != nil, let until = failure.retryAt { paused.withLock { $0[bucket] = max($0[bucket] ?? 0, until) } }
      let wait = retryRule.delay(
        after: failure, endpoint: endpoint, attempt: attempt, now: Self.now, random: Double.random(in: 0...1))
      guard let wait, ContinuousClock.now + .milliseconds(wait) < deadline else { throw failure }
      do { try await Task.sleep(for: .milliseconds(wait)) } catch {
        throw AppStoreServerAPIError(.server, message: "cancelled", server: server)
      }
      attempt += 1
    }
  }

  /// Notes that Apple accepted a key.
  private func accepted(_ key: AppStoreServerKey, _ bundleId: String, _ server: AppStoreServer, afterRefusal: Bool) {
    if afterRefusal { acceptedKeys.accept(key, bundleId, server) }
    if server == .production { sandboxProbes.forget(bundleId) }
  }

  /// Whether a token can be made with the key.
  private func hasKey(
    _ key: AppStoreServerKey, _ bundleId: String, _ server: AppStoreServer, _ deadline: ContinuousClock.Instant
  ) async -> Bool {
    do throws(AppStoreServerAPIError) { return try await token(bundleId, server, key, deadline) != nil } catch { return false }
  }

  /// A token with the key that Apple accepted last, or with the first one if there is no other key any more.
  private func bearer(
    _ bundleId: String, _ server: AppStoreServer, _ key: inout AppStoreServerKey, _ deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> String {
    if let bearer = try await token(bundleId, server, key, deadline) { return bearer }
    key = .first
    guard let bearer = try await token(bundleId, server, .first, deadline) else {
      throw AppStoreServerAPIError(.configuration, message: "the app has no key for the App Store Server API", server: server)
    }
    return bearer
  }

  private static func result(of error: AppStoreServerAPIError) -> AppStoreServerPermit.Result {
    if Task.isCancelled { return .abandoned }
    switch error.classification {
    case .server: return .failed
    case .rate: return .limited(until: error.retryAt ?? now + RetryAfterRule.otherwise)
    default: return .answered
    }
  }

  /// A pause applies to all requests of the app to the endpoint.
  private func refuseWhilePaused(_ bucket: Bucket) throws(AppStoreServerAPIError) {
    let now = Self.now
    let until = paused.withLock { paused -> Int64? in
      guard let until = paused[bucket] else { return nil }
      if until > now { return until }
      paused[bucket] = nil
      return nil
    }
    guard let until else { return }
    throw AppStoreServerAPIError(
      .rate, status: 429, errorCode: AppStoreServerAPIErrorRule.rateLimited, message: "waiting as Apple asked", retryAt: until,
      server: bucket.server)
  }

  private func once(
    _ bucket: Bucket, _ bearer: String, _ target: String, _ body: [UInt8]?, mayTryOther: Bool, _ deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerResponse {
    let server = bucket.server
    let remaining = deadline - .now
    guard remaining > .zero else { throw AppStoreServerAPIError(.server, message: "no time is left", server: server) }
    var headers = [("Authorization", "Bearer \(bearer)"), ("Accept", "application/json")]
    // A POST without a body needs a `Content-Length` too.
    let sent = body ?? (bucket.endpoint.method == "GET" || bucket.endpoint.method == "DELETE" ? nil : [])
    if body != nil { headers.append(("Content-Type", bucket.endpoint.contentType)) }
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await http.send(
        HTTPClientRequest(
          method: bucket.endpoint.method,
          url: bucket.endpoint.baseURL(baseURLs[server] ?? server.defaultBaseURL, on: server) + target, headers: headers, body: sent,
          timeout: min(timeout, remaining), isRepeatable: bucket.endpoint.isRepeatable))
    } catch {
      throw AppStoreServerAPIError(.server, message: "\(error)", server: server)
    }
    if let error = AppStoreServerAPIErrorRule.error(
      status: response.status, header: { response[header: $0] }, body: response.body, server: server, mayTryOther: mayTryOther,
      now: Self.now)
    {
      throw error
    }
    guard !response.body.isEmpty else { return AppStoreServerResponse(server: server, body: [:]) }
    guard let object = try? JSONValue(parsing: response.body, limits: JSONLimits(depth: 32, values: 200_000)).objectValue else {
      throw AppStoreServerAPIError(.server, status: response.status, message: "the answer is not a JSON object", server: server)
    }
    return AppStoreServerResponse(server: server, body: object)
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
