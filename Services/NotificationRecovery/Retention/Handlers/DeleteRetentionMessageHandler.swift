import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Delete Message.
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
    // If this fails, the images of the deleted message stay recorded. They have no effect, because Apple's list does not contain the
    // message.
    try? await images.forget(id, target.app.bundleId, target.server)
    return DeleteRetentionMessageResponse(environment: response.server.rawValue)
  }
}
