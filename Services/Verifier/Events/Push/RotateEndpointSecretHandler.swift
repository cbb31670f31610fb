import AttributionProtocol
import EventPush
import ServiceRuntime

/// `RotateEndpointSecret`: creates a new secret of an endpoint, or removes its older one, or both.
struct RotateEndpointSecretHandler: RPCHandler {
  typealias Method = EventsService.RotateEndpointSecret
  let endpoints: EndpointDirectory

  func handle(_ request: RotateEndpointSecretRequest, _ context: RPCContext) async throws(RPCError) -> RotateEndpointSecretResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    let (makesSecret, endsOlder) = (request.makeNone != true, request.endOlder == true)
    guard makesSecret || endsOlder else {
      throw .invalidArgument(field: "makeNone", "must not be true without endOlder, because the call would change nothing")
    }
    let (changed, secret) = try await endpoints.rotate(name, makesSecret: makesSecret, endsOlder: endsOlder)
    return RotateEndpointSecretResponse(secret: secret, endpointStatus: try await endpoints.message(changed).endpointStatus)
  }
}
