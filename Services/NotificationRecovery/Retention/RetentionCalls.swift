import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Asks the Retention Messaging API for a caller. Its answers hold nothing that is signed.
struct RetentionCalls: Sendable {
  let calls: AppStoreCalls

  /// Nothing that is set up belongs to both environments: which one is meant must be known.
  func target(_ bundleId: String?, _ environment: String?) throws(RPCError) -> (app: DeploymentConfiguration.App, server: AppStoreServer) {
    let app = try calls.app(bundleId)
    return (app, try calls.requiredServer(environment, of: app))
  }

  /// Performance tests run in the sandbox alone.
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
  ) async throws(RPCError) -> AppStoreCalls.Answer {
    try await calls.ask(endpoint, app: target.app, server: target.server, path: path, query: query, body: body, content: content, context)
  }

  /// What a rule answers, with its refusal as our callers get it; `inside` is the field of the request that holds Apple's object.
  static func checked<Value>(inside field: String? = nil, _ rule: () throws(RequestRefusal) -> Value) throws(RPCError) -> Value {
    do throws(RequestRefusal) { return try rule() } catch {
      throw .invalidArgument(field: field.map { $0 + "." + error.field } ?? error.field, error.reason)
    }
  }

  /// A text that Apple's answer must have.
  static func text(_ answer: AppStoreCalls.Answer, _ field: String) throws(RPCError) -> String {
    guard let text = answer.response[field]?.stringValue else {
      throw .unavailable("the App Store answered without \(field)", reason: "APP_STORE_UNAVAILABLE")
    }
    return text
  }

  /// The items of a list in Apple's answer, which leaves an empty one out.
  static func items(_ answer: AppStoreCalls.Answer, _ field: String) -> [JSONObject] {
    (answer.response[field]?.arrayValue ?? []).compactMap(\.objectValue)
  }
}
