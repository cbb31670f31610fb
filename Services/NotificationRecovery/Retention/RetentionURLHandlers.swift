import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Apple: Configure Realtime URL.
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

/// Apple: Get Realtime URL.
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

/// Apple: Delete Realtime URL.
struct DeleteRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionURL
  let calls: RetentionCalls

  func handle(_ request: DeleteRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionURLResponse {
    let response = try await calls.ask(.deleteRetentionURL, try calls.target(request.bundleId, request.environment), context)
    return DeleteRetentionURLResponse(environment: response.server.rawValue)
  }
}
