import AttributionProtocol
import ServiceRuntime

struct UpdateEndpointHandler: RPCHandler {
  typealias Method = EventsService.UpdateEndpoint
  let endpoints: EndpointDirectory

  func handle(_ request: UpdateEndpointRequest, _ context: RPCContext) async throws(RPCError) -> UpdateEndpointResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    guard let push = request.push else { throw .invalidArgument(field: "push", "is missing") }
    return UpdateEndpointResponse(subscription: try await endpoints.message(try await endpoints.update(name, push)))
  }
}
