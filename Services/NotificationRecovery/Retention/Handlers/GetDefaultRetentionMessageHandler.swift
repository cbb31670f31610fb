import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Get Default Message.
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
