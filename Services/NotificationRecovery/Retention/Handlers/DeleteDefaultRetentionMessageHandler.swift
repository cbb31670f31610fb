import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

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
