import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Delete Default Message. It also succeeds if there is no default message.
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
