import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls the Retention Messaging API for a caller. Its answers contain no JWS.
struct RetentionCalls: Sendable {
  let calls: AppStoreCalls

  /// The app and the environment, which the request must name, because settings belong to one environment.
  func target(_ bundleId: String?, _ environment: String?) throws(RPCError) -> (app: DeploymentConfiguration.App, server: AppStoreServer) {
    let app = try calls.app(bundleId)
    return (app, try calls.requiredServer(environment, of: app))
  }

  /// The app and the sandbox, the only environment with performance tests.
  func sandbox(_ bundleId: String?, _ environment: String?) throws(RPCError) -> (app: DeploymentConfiguration.App, server: AppStoreServer) {
    let app = try calls.app(bundleId)
    guard try calls.server(environment.stated ?? AppStoreServer.sandbox.rawValue, of: app) == .sandbox else {
      throw .invalidArgument(field: "environment", "performance tests run in the sandbox only")
    }
    return (app, .sandbox)
  }

  func ask(
    _ endpoint: AppStoreServerEndpoint, _ target: (app: DeploymentConfiguration.App, server: AppStoreServer), path: [String] = [],
    query: [(String, String)] = [], body: JSONObject? = nil, content: [UInt8]? = nil, _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response {
    try await calls.ask(endpoint, app: target.app, server: target.server, path: path, query: query, body: body, content: content, context)
  }

  /// The result of a rule, with its error converted for callers; `inside` is the field of the request with Apple's object.
  static func checked<Value>(inside field: String? = nil, _ rule: () throws(RequestRefusal) -> Value) throws(RPCError) -> Value {
    do throws(RequestRefusal) { return try rule() } catch {
      throw .invalidArgument(field: field.map { $0 + "." + error.field } ?? error.field, error.reason)
    }
  }

  /// A required text of Apple's answer.
  static func text(_ response: AppStoreCalls.Response, _ field: String) throws(RPCError) -> String {
    guard let text = response.body[field]?.stringValue else {
      throw .unavailable("the App Store answered without \(field)", reason: "APP_STORE_UNAVAILABLE")
    }
    return text
  }

  /// The items of a list in Apple's answer. Apple omits an empty list.
  static func items(_ response: AppStoreCalls.Response, _ field: String) -> [JSONObject] {
    (response.body[field]?.arrayValue ?? []).compactMap(\.objectValue)
  }

  /// The product and locale of a default message, as a path.
  func defaultPath(_ productId: String?, _ locale: String?) throws(RPCError) -> [String] {
    [
      try calls.filled("productId", productId),
      try Self.checked { () throws(RequestRefusal) in try RetentionParameterRules.locale(locale) },
    ]
  }
}
