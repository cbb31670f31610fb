import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Apple: Delete Message.
struct DeleteRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionMessage
  let calls: RetentionCalls
  let images: MessageImages

  func handle(_ request: DeleteRetentionMessageRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionMessageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionParameterRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    let response = try await calls.ask(.deleteRetentionMessage, target, path: [id], context)
    // What is left of a deleted message has no effect, because Apple's list does not contain it.
    try? await images.forget(id, target.app.bundleId, target.server)
    return DeleteRetentionMessageResponse(environment: response.server.rawValue)
  }
}
