import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Apple: Configure Default Message.
struct SetDefaultRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.SetDefaultRetentionMessage
  let calls: RetentionCalls

  func handle(_ request: SetDefaultRetentionMessageRequest, _ context: RPCContext) async throws(RPCError)
    -> SetDefaultRetentionMessageResponse
  {
    let target = try calls.target(request.bundleId, request.environment)
    let path = try calls.defaultPath(request.productId, request.locale)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionParameterRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    let response = try await calls.ask(
      .setDefaultRetentionMessage, target, path: path, body: ["messageIdentifier": .string(id)], context)
    return SetDefaultRetentionMessageResponse(environment: response.server.rawValue)
  }
}

/// Apple: Get Default Message.
struct GetDefaultRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.GetDefaultRetentionMessage
  let calls: RetentionCalls

  func handle(_ request: GetDefaultRetentionMessageRequest, _ context: RPCContext) async throws(RPCError)
    -> GetDefaultRetentionMessageResponse
  {
    let target = try calls.target(request.bundleId, request.environment)
    let path = try calls.defaultPath(request.productId, request.locale)
    let response = try await calls.ask(.getDefaultRetentionMessage, target, path: path, context)
    return GetDefaultRetentionMessageResponse(
      messageIdentifier: try RetentionCalls.text(response, "messageIdentifier").lowercased(), environment: response.server.rawValue)
  }
}

/// Apple: Delete Default Message. Without a default message it succeeds too.
struct DeleteDefaultRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.DeleteDefaultRetentionMessage
  let calls: RetentionCalls

  func handle(_ request: DeleteDefaultRetentionMessageRequest, _ context: RPCContext) async throws(RPCError)
    -> DeleteDefaultRetentionMessageResponse
  {
    let target = try calls.target(request.bundleId, request.environment)
    let path = try calls.defaultPath(request.productId, request.locale)
    let response = try await calls.ask(.deleteDefaultRetentionMessage, target, path: path, context)
    return DeleteDefaultRetentionMessageResponse(environment: response.server.rawValue)
  }
}

extension RetentionCalls {
  /// The product and locale of a default message, as a path.
  fileprivate func defaultPath(_ productId: String?, _ locale: String?) throws(RPCError) -> [String] {
    [
      try calls.filled("productId", productId),
      try Self.checked { () throws(RequestRefusal) in try RetentionParameterRules.locale(locale) },
    ]
  }
}
