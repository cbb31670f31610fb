import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Configure Realtime URL.
struct SetRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.SetRetentionURL
  let calls: RetentionCalls

  func handle(_ request: SetRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> SetRetentionURLResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let url = try RetentionCalls.checked { () throws(RequestRefusal) in try RetentionParameterRules.url(request.realtimeUrl) }
    let response = try await calls.ask(.setRetentionURL, target, body: ["realtimeURL": .string(url)], context)
    return SetRetentionURLResponse(environment: response.server.rawValue)
  }
}
