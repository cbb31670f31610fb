public import HTTPClient
import Synchronization
public import WireJSON

#if canImport(Glibc)
  import Glibc
#endif

/// A response of Apple's to a successful call, and the server that sent it.
public struct AppStoreServerResponse: Sendable, Hashable {
  public let server: AppStoreServer
  /// Apple's body, unchanged; an empty object if there is none.
  public let body: JSONObject

  public init(server: AppStoreServer, body: JSONObject) {
    self.server = server
    self.body = body
  }
}

/// A client of the App Store Server API. It handles bearer tokens, errors, retries, and the pauses that Apple asks for. It verifies
/// nothing: the JWS in a response must be verified by the caller (``SignedDataVerifier``).
///
/// ```swift
/// let response = try await client.call(
///   .getTransactionInfo, bundleId: "com.example.app", server: nil, path: ["2000000123456789"], deadline: .now + .seconds(10))
/// let jws = response.body["signedTransactionInfo"]?.stringValue
/// ```
///
/// ``call(_:bundleId:server:path:query:body:deadline:)``, in `AppStoreServerAPIClient+EnvironmentFallback.swift`, chooses the server and
/// calls ``ask(_:_:_:_:_:mayTryOther:_:)`` here, which sends the request once or several times: with a permit (``AppStoreServerPacing``),
/// with a new token and then with the app's other key if Apple refuses the first token, and again after errors if
/// ``AppStoreServerRetryRule`` says so.
public final class AppStoreServerAPIClient: Sendable {
  /// Returns the bearer token for an app, made with one of its keys; nil if the app has no such key. If `isNew` is true, the token must not
  /// be one that was returned before. `deadline` is that of the call.
  public typealias TokenProvider =
    @Sendable (
      _ bundleId: String, _ server: AppStoreServer, _ key: AppStoreServerKey, _ isNew: Bool, _ deadline: ContinuousClock.Instant
    ) async throws(AppStoreServerAPIError) -> String?

  /// What Apple counts together for its rate limits.
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
  /// The times until which an app must not call an endpoint, because Apple's status was 429; milliseconds since 1970.
  private let paused = Mutex<[Bucket: Int64]>([:])
  private let acceptedKeys = AcceptedKeys()
  let sandboxProbes = SandboxKeyProbes()
  private let keyRefused: @Sendable (String, AppStoreServer, AppStoreServerKey) -> Void

  /// - Parameters:
  ///   - baseURLs: replace Apple's URLs.
  ///   - timeout: the longest time for one request.
  ///   - pacing: our own rate limits; nil if only Apple's status 429 limits the requests.
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

  /// One page of Get Notification History.
  public func notificationHistory(
    _ request: NotificationHistoryRequest, bundleId: String, server: AppStoreServer, paginationToken: String?,
    deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> NotificationHistoryPage {
    let response = try await call(
      .getNotificationHistory, bundleId: bundleId, server: server, query: paginationToken.map { [("paginationToken", $0)] } ?? [],
      body: request.body, deadline: deadline)
    guard let page = NotificationHistoryPage(response.body) else {
      throw AppStoreServerAPIError(.server, status: 200, message: "the response is not a page of notifications", server: server)
    }
    return page
  }

  /// Calls one endpoint of one server, with retries, pauses and the app's other key as the rules say.
  ///
  /// Apple sometimes answers 401 once to a right token, so each key is tried twice, the second time with a new token. That is safe for a
  /// change too, even one that must not be repeated: Apple executes no request whose token it refuses. These calls do not count as retries.
  ///
  /// - Parameter mayTryOther: true if the caller did not name the environment and this is the first of the two servers.
  func ask(
    _ endpoint: AppStoreServerEndpoint, _ bundleId: String, _ server: AppStoreServer, _ target: String, _ body: [UInt8]?,
    mayTryOther: Bool, _ deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerResponse {
    let bucket = Bucket(bundleId: bundleId, server: server, endpoint: endpoint)
    var attempt = 1
    var key = acceptedKeys.key(bundleId, server)
    // The number of tokens that Apple has refused, and its last refusal.
    var refusals = 0
    var refusal: AppStoreServerAPIError?
    while true {
      let failure: AppStoreServerAPIError
      var isSent = false
      do throws(AppStoreServerAPIError) {
        try refuseWhilePaused(bucket)
        let bearer = try await self.bearer(bundleId, server, &key, isNew: refusals % 2 == 1, deadline)
        let permit = try await pacing?.permit(endpoint, bundleId: bundleId, server: server, deadline: deadline)
        // If the caller's deadline made the timeout shorter than usual, a timeout says nothing about Apple.
        let isHurried = deadline - .now < timeout
        do throws(AppStoreServerAPIError) {
          isSent = deadline > .now
          let response = try await sendOnce(bucket, bearer, target, body, mayTryOther: mayTryOther, deadline)
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
      // If the request was not repeated, Apple's refusal is the result.
      if let refusal, !isSent { throw refusal }
      if failure.classification == .credentials {
        refusal = failure
        refusals += 1
        if refusals % 2 == 1 { continue }
        // While one key replaces the other, Apple may accept only one of them.
        guard refusals == 2, await hasKey(key.counterpart, bundleId, server, deadline) else { throw failure }
        keyRefused(bundleId, server, key)
        key = key.counterpart
        continue
      }
      // Only a response of Apple's pauses all requests of the app to the endpoint. Our own rate limit refuses just this one.
      if failure.status != nil, let until = failure.retryAt { paused.withLock { $0[bucket] = max($0[bucket] ?? 0, until) } }
      let wait = retryRule.delay(
        after: failure, endpoint: endpoint, attempt: attempt, now: Self.now, random: Double.random(in: 0...1))
      guard let wait, ContinuousClock.now + .milliseconds(wait) < deadline else { throw failure }
      do { try await Task.sleep(for: .milliseconds(wait)) } catch {
        throw AppStoreServerAPIError(.server, message: "the call was cancelled", server: server)
      }
      attempt += 1
    }
  }

  /// Records that Apple accepted a key.
  private func accepted(_ key: AppStoreServerKey, _ bundleId: String, _ server: AppStoreServer, afterRefusal: Bool) {
    if afterRefusal { acceptedKeys.accept(key, bundleId, server) }
    if server == .production { sandboxProbes.noteReleased(bundleId) }
  }

  /// True if the app has the key, so that a token can be made with it.
  private func hasKey(
    _ key: AppStoreServerKey, _ bundleId: String, _ server: AppStoreServer, _ deadline: ContinuousClock.Instant
  ) async -> Bool {
    do throws(AppStoreServerAPIError) { return try await token(bundleId, server, key, false, deadline) != nil } catch { return false }
  }

  /// A token made with the given key, or with the first one if the app has no other key any more. Sets `key` to the one that was used.
  private func bearer(
    _ bundleId: String, _ server: AppStoreServer, _ key: inout AppStoreServerKey, isNew: Bool, _ deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> String {
    if let bearer = try await token(bundleId, server, key, isNew, deadline) { return bearer }
    key = .first
    guard let bearer = try await token(bundleId, server, .first, isNew, deadline) else {
      throw AppStoreServerAPIError(.configuration, message: "the app has no key for the App Store Server API", server: server)
    }
    return bearer
  }

  /// What an error says about the server.
  private static func result(of error: AppStoreServerAPIError) -> AppStoreServerPermit.Result {
    if Task.isCancelled { return .abandoned }
    switch error.classification {
    case .server: return .failed
    case .rate: return .limited(until: error.retryAt ?? now + RetryAfterRule.defaultWait)
    default: return .answered
    }
  }

  /// Throws while Apple's pause for the app's requests to the endpoint lasts.
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
      .rate, status: 429, errorCode: AppStoreServerAPIErrorRule.rateLimited, message: "Apple asked to wait before further requests",
      retryAt: until, server: bucket.server)
  }

  /// Sends one request. Throws the error of the response, if it has one.
  private func sendOnce(
    _ bucket: Bucket, _ bearer: String, _ target: String, _ body: [UInt8]?, mayTryOther: Bool, _ deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerResponse {
    let server = bucket.server
    let remaining = deadline - .now
    guard remaining > .zero else { throw AppStoreServerAPIError(.server, message: "no time is left before the deadline", server: server) }
    var headers = [("Authorization", "Bearer \(bearer)"), ("Accept", "application/json")]
    // A POST or PUT without a body needs a `Content-Length` too, so its body is empty and not absent.
    let sent = body ?? (bucket.endpoint.method == "GET" || bucket.endpoint.method == "DELETE" ? nil : [])
    if body != nil { headers.append(("Content-Type", bucket.endpoint.contentType)) }
    let sentAt = Self.now
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
    let now = Self.now
    if let error = AppStoreServerAPIErrorRule.error(
      status: response.status, header: { response[header: $0] }, body: response.body, server: server, mayTryOther: mayTryOther,
      now: now, clockDifference: response.clockDifference(sentAt: sentAt, receivedAt: now))
    {
      throw error
    }
    guard !response.body.isEmpty else { return AppStoreServerResponse(server: server, body: [:]) }
    guard let object = try? JSONValue(parsing: response.body, limits: JSONLimits(depth: 32, values: 200_000)).objectValue else {
      throw AppStoreServerAPIError(.server, status: response.status, message: "the response is not a JSON object", server: server)
    }
    return AppStoreServerResponse(server: server, body: object)
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
