import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple for a caller: finds the app, makes the request, and verifies every JWS of the answer.
struct AppStoreCalls: Sendable {
  /// Apple's response with its signed parts decoded.
  struct Response: Sendable {
    let server: AppStoreServer
    let body: JSONObject
    /// In the order of their JWS in the body.
    let decoded: [JSONObject]

    /// The payload of a JWS of the body.
    func payload(of jws: String) -> JSONObject? {
      zip(SignedParts.find(in: body), decoded).first { $0.0.jws == jws }?.1
    }
  }

  let client: AppStoreServerAPIClient
  let verifier: SignedDataVerifier
  let configuration: DeploymentConfiguration
  let metrics: RecoveryMetrics

  /// The configured app of a request.
  func app(_ bundleId: String?) throws(RPCError) -> DeploymentConfiguration.App {
    guard let bundleId, !bundleId.isEmpty else { throw .invalidArgument(field: "bundleId", "is missing") }
    guard let app = configuration.app(bundleId) else { throw .notFound("no app of this bundle id is configured", field: "bundleId") }
    guard app.appStoreServer != nil else {
      throw .failedPrecondition("the app has no key for the App Store Server API", reason: "APP_STORE_KEY_MISSING")
    }
    return app
  }

  /// The environment of a request; nil if the request does not name it.
  func server(_ environment: String?, of app: DeploymentConfiguration.App) throws(RPCError) -> AppStoreServer? {
    guard let environment, !environment.isEmpty else {
      // An app with one environment needs no choice.
      return app.onlyServer
    }
    guard let server = AppStoreServer(rawValue: environment) else {
      throw .invalidArgument(field: "environment", "must be Production or Sandbox")
    }
    guard app.environments.contains(environment) else {
      throw .failedPrecondition("the app is not configured for this environment", reason: "ENVIRONMENT_NOT_CONFIGURED")
    }
    return server
  }

  /// The environment of a request that must name it.
  func requiredServer(_ environment: String?, of app: DeploymentConfiguration.App) throws(RPCError) -> AppStoreServer {
    guard let server = try server(environment, of: app) else {
      throw .invalidArgument(field: "environment", "must be Production or Sandbox")
    }
    return server
  }

  /// A required value.
  func filled(_ field: String, _ value: String?) throws(RPCError) -> String {
    guard let value, !value.isEmpty else { throw .invalidArgument(field: field, "is missing") }
    guard value.utf8.count <= 256 else { throw .invalidArgument(field: field, "is longer than 256 bytes") }
    return value
  }

  /// The required id of a transaction.
  func transactionId(_ field: String, _ value: String?) throws(RPCError) -> String {
    let id = try filled(field, value)
    guard id.utf8.allSatisfy({ (48...57).contains($0) }) else { throw .invalidArgument(field: field, "must be digits") }
    return id
  }

  /// Calls one endpoint for a caller; nil for `server` tries production, then the sandbox. `content` is a body that is not JSON.
  func ask(
    _ endpoint: AppStoreServerEndpoint, app: DeploymentConfiguration.App, server: AppStoreServer?, path: [String] = [],
    query: [(String, String)] = [], body: JSONObject? = nil, content: [UInt8]? = nil, _ context: RPCContext
  ) async throws(RPCError) -> Response {
    do throws(AppStoreCallFailure) {
      return try await ask(
        endpoint, app: app, server: server, path: path, query: query, body: body, content: content,
        deadline: context.deadline - .milliseconds(50))
    } catch {
      context.logger.info(
        "a call to Apple failed",
        metadata: ["endpoint": "\(endpoint.rawValue)", "reason": "\(error)", "requestId": "\(context.requestId)"])
      throw RPCError(error, now: WallClock.now())
    }
  }

  /// Calls one endpoint for our own work.
  func ask(
    _ endpoint: AppStoreServerEndpoint, app: DeploymentConfiguration.App, server: AppStoreServer?, path: [String] = [],
    query: [(String, String)] = [], body: JSONObject? = nil, content: [UInt8]? = nil, deadline: ContinuousClock.Instant
  ) async throws(AppStoreCallFailure) -> Response {
    let response: AppStoreServerResponse
    do throws(AppStoreServerAPIError) {
      response = try await client.call(
        endpoint, bundleId: app.bundleId, server: server, path: path, query: query,
        body: content ?? body.map { JSONValue.object($0).serialized }, deadline: deadline)
    } catch {
      metrics.failed(error.classification.rawValue)
      throw .apple(error)
    }
    return Response(
      server: response.server, body: response.body, decoded: try decoded(response.body, app: app, server: response.server))
  }

  /// Every JWS is verified before it is returned, because TLS does not replace its signature. Revocation is not checked here: Apple sent the
  /// JWS itself, over a connection that its own certificate protects. Notifications that are read from the history go through the queue,
  /// where verifier checks it.
  private func decoded(
    _ response: JSONObject, app: DeploymentConfiguration.App, server: AppStoreServer
  ) throws(AppStoreCallFailure) -> [JSONObject] {
    var payloads: [JSONObject] = []
    let expected = SignedDataExpectation(
      bundleId: app.bundleId, appAppleId: server == .production ? app.appAppleId : nil, environment: server.rawValue)
    for part in SignedParts.find(in: response) {
      let verdict = verifier.verdict(on: part.jws, kind: part.kind.signedDataKind, expecting: expected, now: WallClock.now())
      guard verdict.valid, let payload = verdict.payload else {
        throw .unverified(kind: part.kind, reason: verdict.reason ?? .malformed)
      }
      payloads.append(payload)
    }
    return payloads
  }
}

/// Why a call to Apple has no answer that can be returned.
enum AppStoreCallFailure: Error, CustomStringConvertible {
  case apple(AppStoreServerAPIError)
  /// The answer holds signed data that cannot be verified.
  case unverified(kind: SignedParts.Kind, reason: SignedDataReason)

  var description: String {
    switch self {
    case .apple(let error): "\(error)"
    case .unverified(let kind, let reason): "the answer's signed data (\(kind.rawValue)) cannot be verified: \(reason.rawValue)"
    }
  }
}

extension String? {
  /// Nil for an empty text too: callers may send one for an absent value.
  var stated: String? { flatMap { $0.isEmpty ? nil : $0 } }
}

extension SignedParts.Kind {
  var signedDataKind: SignedDataKind {
    switch self {
    case .transaction: .transaction
    case .renewalInfo: .renewalInfo
    case .appTransaction: .appTransaction
    case .notification: .notification
    }
  }
}

extension DeploymentConfiguration.App {
  /// The App Store's server that knows the app, if there is exactly one. Environments without a server do not count.
  var onlyServer: AppStoreServer? {
    let servers = environments.compactMap(AppStoreServer.init(rawValue:))
    return servers.count == 1 ? servers[0] : nil
  }
}
