import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls the Retention Messaging API for the caller of an RPC, through ``AppStoreCalls``. Apple's answers contain no JWS.
struct RetentionCalls: Sendable {
  let calls: AppStoreCalls

  /// The app and the server that a request names. The request must name the environment, because images, messages and URLs belong to one
  /// environment.
  func target(_ bundleId: String?, _ environment: String?) throws(RPCError) -> (app: DeploymentConfiguration.App, server: AppStoreServer) {
    let app = try calls.app(bundleId)
    return (app, try calls.requiredServer(environment, of: app))
  }

  /// The app that a request names, and the sandbox, which is the only environment with performance tests.
  func sandbox(_ bundleId: String?, _ environment: String?) throws(RPCError) -> (app: DeploymentConfiguration.App, server: AppStoreServer) {
    let app = try calls.app(bundleId)
    guard try calls.server(environment.nonEmpty ?? AppStoreServer.sandbox.rawValue, of: app) == .sandbox else {
      throw .invalidArgument(field: "environment", "must be Sandbox: performance tests run only there")
    }
    return (app, .sandbox)
  }

  /// Calls an endpoint.
  ///
  /// - Parameter content: a body that is not JSON.
  func ask(
    _ endpoint: AppStoreServerEndpoint, _ target: (app: DeploymentConfiguration.App, server: AppStoreServer), path: [String] = [],
    query: [(String, String)] = [], body: JSONObject? = nil, content: [UInt8]? = nil, _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response {
    try await calls.ask(endpoint, app: target.app, server: target.server, path: path, query: query, body: body, content: content, context)
  }

  /// Runs a rule of the module AppStore, and converts its error for callers.
  ///
  /// - Parameter field: the field of the RPC's request that contains Apple's object; nil if the rule names fields of the request itself.
  static func checked<Value>(inside field: String? = nil, _ rule: () throws(RequestRefusal) -> Value) throws(RPCError) -> Value {
    do throws(RequestRefusal) { return try rule() } catch {
      throw .invalidArgument(field: field.map { $0 + "." + error.field } ?? error.field, error.reason)
    }
  }

  /// A text that Apple's answer must contain.
  static func text(_ response: AppStoreCalls.Response, _ field: String) throws(RPCError) -> String {
    guard let text = response.body[field]?.stringValue else {
      throw .unavailable("the App Store answered without \(field)", reason: "APP_STORE_UNAVAILABLE")
    }
    return text
  }

  /// The items of a list in Apple's answer; empty without the list, because Apple omits an empty one.
  static func items(_ response: AppStoreCalls.Response, _ field: String) -> [JSONObject] {
    (response.body[field]?.arrayValue ?? []).compactMap(\.objectValue)
  }

  /// The values in the path of an endpoint for default messages: the product and the locale.
  func defaultPath(_ productId: String?, _ locale: String?) throws(RPCError) -> [String] {
    [
      try calls.requiredText("productId", productId),
      try Self.checked { () throws(RequestRefusal) in try RetentionParameterRules.locale(locale) },
    ]
  }
}
