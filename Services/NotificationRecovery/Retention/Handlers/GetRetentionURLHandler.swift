import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Get Realtime URL.
struct GetRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.GetRetentionURL
  let calls: RetentionCalls

  func handle(_ request: GetRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> GetRetentionURLResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let response = try await calls.ask(.getRetentionURL, target, context)
    return GetRetentionURLResponse(
      realtimeUrl: try RetentionCalls.text(response, "realtimeURL"), environment: response.server.rawValue)
  }
}
