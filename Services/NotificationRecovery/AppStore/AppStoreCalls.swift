import AppStore
import AttributionProtocol
import Logging
import ServiceRuntime
import WireJSON

/// Calls the App Store Server API, for a caller of an RPC or for this service's own work, and verifies every JWS of Apple's answer.
///
/// A handler checks the request's fields with ``app(_:)``, ``server(_:of:)`` and ``purchaseId(_:_:)``, and then calls `ask`:
///
///     let app = try calls.app(request.bundleId)
///     let id = try calls.purchaseId("transactionId", request.transactionId)
///     let server = try calls.server(request.environment, of: app)
///     let response = try await calls.ask(.getTransactionInfo, app: app, server: server, path: [id], context)
///
/// `AppStoreServerAPIClient` of the module AppStore makes the HTTP requests and their retries, and ``ApplePacing`` limits their rate.
struct AppStoreCalls: Sendable {
  /// Apple's response, with the payloads of its JWS.
  struct Response: Sendable {
    let server: AppStoreServer
    let body: JSONObject
    /// The payloads, in the order of their JWS in the body. The payload of a JWS that cannot be used is empty.
    let decoded: [JSONObject]
    /// The JWS that are not as expected, in their order. They do not affect the others.
    var problems: [Problem] = []

    /// The payload of a JWS of the body; nil if the body does not contain this JWS, or it cannot be used.
    func payload(of jws: String) -> JSONObject? {
      zip(SignedParts.find(in: body), decoded).first { $0.0.jws == jws && !$0.1.isEmpty }?.1
    }
  }

  /// A JWS in Apple's response that is not as expected.
  struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// Its place among the JWS of the response, from 0.
    let index: Int
    let kind: SignedParts.Kind
    let reason: SignedDataReason
    /// The missing or invalid field, if the reason is `malformed`.
    let field: String?

    /// True if the JWS is used all the same: it names no app, but the app's key fetched it.
    var isUsed: Bool { reason == .appNotNamed }

    var description: String {
      "the signed data in Apple's answer (\(kind.rawValue), number \(index + 1)) "
        + (isUsed ? "names no app" : "cannot be verified: \(reason.rawValue)\(field.map { " (\($0))" } ?? "")")
    }
  }

  let client: AppStoreServerAPIClient
  let verifier: SignedDataVerifier
  let configuration: DeploymentConfiguration
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The app that a request names. Throws if the app is not configured or has no key for the App Store Server API.
  func app(_ bundleId: String?) throws(RPCError) -> DeploymentConfiguration.App {
    guard let bundleId, !bundleId.isEmpty else { throw .invalidArgument(field: "bundleId", "is missing") }
    guard let app = configuration.app(bundleId) else { throw .notFound("no app with this bundle id is configured", field: "bundleId") }
    guard app.appStoreServer != nil else {
      throw .failedPrecondition("the app has no key for the App Store Server API", reason: "APP_STORE_KEY_MISSING")
    }
    return app
  }

  /// The server of the environment that a request names, or the app's only server; nil if the request names none and the app has several.
  func server(_ environment: String?, of app: DeploymentConfiguration.App) throws(RPCError) -> AppStoreServer? {
    guard let environment, !environment.isEmpty else {
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

  /// The server of a request that needs one: the request must name the environment, unless the app has only one server.
  func requiredServer(_ environment: String?, of app: DeploymentConfiguration.App) throws(RPCError) -> AppStoreServer {
    guard let server = try server(environment, of: app) else {
      throw .invalidArgument(field: "environment", "must be Production or Sandbox")
    }
    return server
  }

  /// A required text of a request.
  func requiredText(_ field: String, _ value: String?) throws(RPCError) -> String {
    guard let value, !value.isEmpty else { throw .invalidArgument(field: field, "is missing") }
    guard value.utf8.count <= 256 else { throw .invalidArgument(field: field, "is longer than 256 bytes") }
    return value
  }

  /// A required id of a request: a transaction id, or any other id of a customer's purchases.
  func purchaseId(_ field: String, _ value: String?) throws(RPCError) -> String {
    let id = try requiredText(field, value)
    guard !TransactionIdExtractor.isOfXcode(id) else {
      throw .invalidArgument(field: field, "is the id of a purchase in Xcode, which Apple does not know")
    }
    return id
  }

  /// A required transaction id of a request.
  func transactionId(_ field: String, _ value: String?) throws(RPCError) -> String {
    let id = try purchaseId(field, value)
    guard id.utf8.allSatisfy({ (48...57).contains($0) }) else { throw .invalidArgument(field: field, "must be digits") }
    return id
  }

  /// Calls an endpoint for the caller of an RPC. The caller gets Apple's error as an `RPCError`, and an error too if nothing in Apple's
  /// answer can be used.
  ///
  /// - Parameters:
  ///   - server: nil tries production, then the sandbox.
  ///   - content: a body that is not JSON, such as an image; it takes the place of `body`.
  func ask(
    _ endpoint: AppStoreServerEndpoint, app: DeploymentConfiguration.App, server: AppStoreServer?, path: [String] = [],
    query: [(String, String)] = [], body: JSONObject? = nil, content: [UInt8]? = nil, _ context: RPCContext
  ) async throws(RPCError) -> Response {
    let response: Response
    do throws(AppStoreServerAPIError) {
      response = try await ask(
        endpoint, app: app, server: server, path: path, query: query, body: body, content: content,
        // The rest of the time is for the response, so that the caller gets Apple's error and not the error of its own deadline.
        deadline: context.deadline - .milliseconds(50))
    } catch {
      context.logger.info(
        "a call to Apple failed",
        metadata: ["endpoint": "\(endpoint.rawValue)", "reason": "\(error)", "requestId": "\(context.requestId)"])
      throw RPCError(error, now: WallClock.now())
    }
    if let problem = response.problems.first, response.decoded.allSatisfy(\.isEmpty) { throw RPCError(problem) }
    return response
  }

  /// Calls an endpoint for this service's own work. The parameters have the same meaning as for the caller of an RPC.
  func ask(
    _ endpoint: AppStoreServerEndpoint, app: DeploymentConfiguration.App, server: AppStoreServer?, path: [String] = [],
    query: [(String, String)] = [], body: JSONObject? = nil, content: [UInt8]? = nil, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> Response {
    let answer: AppStoreServerResponse
    do throws(AppStoreServerAPIError) {
      answer = try await client.call(
        endpoint, bundleId: app.bundleId, server: server, path: path, query: query,
        body: content ?? body.map { JSONValue.object($0).serialized }, deadline: deadline)
    } catch {
      metrics.countError(error.classification.rawValue)
      throw error
    }
    let response = verified(answer, app: app)
    for problem in response.problems {
      logger.warning(
        "signed data in Apple's answer is not as expected",
        metadata: ["app": "\(app.bundleId)", "endpoint": "\(endpoint.rawValue)", "reason": "\(problem)"])
    }
    return response
  }

  /// Verifies every JWS of an answer, because TLS does not replace Apple's signature. Data that names no app is used, because the app's key
  /// fetched it.
  ///
  /// The revocation of the JWS' certificates is not checked here, because Apple itself sent the JWS over a connection that the certificate
  /// of Apple's server protects. Notifications of the history are queued in the intake, and verifier checks their revocation.
  private func verified(_ answer: AppStoreServerResponse, app: DeploymentConfiguration.App) -> Response {
    var payloads: [JSONObject] = []
    var problems: [Problem] = []
    for (index, part) in SignedParts.find(in: answer.body).enumerated() {
      func verdict(trustedSource: Bool) -> SignedDataVerdict {
        let expected = SignedDataExpectation(
          bundleId: app.bundleId, appAppleId: answer.server == .production ? app.appAppleId : nil, environment: answer.server.rawValue,
          trustedSource: trustedSource)
        return verifier.verdict(on: part.jws, kind: part.kind.signedDataKind, expecting: expected, now: WallClock.now())
      }
      let first = verdict(trustedSource: false)
      let judged = first.reason == .appNotNamed ? verdict(trustedSource: true) : first
      if !first.valid {
        let problem = judged.valid ? first : judged
        problems.append(Problem(index: index, kind: part.kind, reason: problem.reason ?? .malformed, field: problem.field))
      }
      payloads.append(judged.valid ? judged.payload ?? [:] : [:])
    }
    return Response(server: answer.server, body: answer.body, decoded: payloads, problems: problems)
  }
}

extension StatusObservation.Entry {
  /// The status without renewal information that cannot be used.
  func usable(in response: AppStoreCalls.Response) -> Self {
    guard let renewal = signedRenewalInfo, response.payload(of: renewal) == nil else { return self }
    return Self(status: status, signedTransactionInfo: signedTransactionInfo, signedRenewalInfo: nil)
  }
}

extension String? {
  /// The text; nil for an empty one, because callers may send an empty text for an absent value.
  var nonEmpty: String? { flatMap { $0.isEmpty ? nil : $0 } }
}

extension SignedParts.Kind {
  /// The kind by which `SignedDataVerifier` chooses its rules.
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
  /// The app's server, if the configured environments have exactly one. Xcode and LocalTesting are environments without a server.
  var onlyServer: AppStoreServer? {
    let servers = environments.compactMap(AppStoreServer.init(rawValue:))
    return servers.count == 1 ? servers[0] : nil
  }
}
