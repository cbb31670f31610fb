import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Delete Realtime URL.
struct DeleteRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionURL
  let calls: RetentionCalls

  func handle(_ request: DeleteRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionURLResponse {
    let response = try await calls.ask(.deleteRetentionURL, try calls.target(request.bundleId, request.environment), context)
    return DeleteRetentionURLResponse(environment: response.server.rawValue)
  }
}
