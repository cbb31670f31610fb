import AttributionProtocol
import EventPush
import ServiceRuntime

struct RotateEndpointSecretHandler: RPCHandler {
  typealias Method = EventsService.RotateEndpointSecret
  let endpoints: EndpointDirectory

  func handle(_ request: RotateEndpointSecretRequest, _ context: RPCContext) async throws(RPCError) -> RotateEndpointSecretResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    let (makesOne, endsOlder) = (request.makeNone != true, request.endOlder == true)
    guard makesOne || endsOlder else { throw .invalidArgument(field: "makeNone", "needs endOlder: otherwise nothing changes") }
    let (changed, secret) = try await endpoints.rotate(name, makesOne: makesOne, endsOlder: endsOlder)
    return RotateEndpointSecretResponse(secret: secret, endpointStatus: try await endpoints.message(changed).endpointStatus)
  }
}
