import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Configure Default Message.
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
