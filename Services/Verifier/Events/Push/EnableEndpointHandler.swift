import AttributionProtocol
import ServiceRuntime

/// `EnableEndpoint`: enables a disabled endpoint, and optionally replays events from a given time.
struct EnableEndpointHandler: RPCHandler {
  typealias Method = EventsService.EnableEndpoint
  let endpoints: EndpointDirectory

  func handle(_ request: EnableEndpointRequest, _ context: RPCContext) async throws(RPCError) -> EnableEndpointResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    let enabled = try await endpoints.enable(name, replayFrom: request.replayFrom?.millisecondsSince1970)
    return EnableEndpointResponse(subscription: try await endpoints.message(enabled))
  }
}
