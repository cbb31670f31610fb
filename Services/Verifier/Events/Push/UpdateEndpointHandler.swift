import AttributionProtocol
import ServiceRuntime

/// `UpdateEndpoint`: changes the settings of a push endpoint. Absent fields stay unchanged.
struct UpdateEndpointHandler: RPCHandler {
  typealias Method = EventsService.UpdateEndpoint
  let endpoints: EndpointDirectory

  func handle(_ request: UpdateEndpointRequest, _ context: RPCContext) async throws(RPCError) -> UpdateEndpointResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    let cleared = try ClearedFields(request.clear, beside: request.push)
    guard request.push != nil || !cleared.isEmpty else { throw .invalidArgument(field: "push", "is missing") }
    let push = request.push ?? PushEndpoint()
    return UpdateEndpointResponse(subscription: try await endpoints.message(try await endpoints.update(name, push, clearing: cleared)))
  }
}
