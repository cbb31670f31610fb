import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `GetSubscription`: a subscription with its backlog.
struct GetSubscriptionHandler: RPCHandler {
  typealias Method = EventsService.GetSubscription
  let feed: EventFeed
  let endpoints: EndpointDirectory

  func handle(_ request: GetSubscriptionRequest, _ context: RPCContext) async throws(RPCError) -> GetSubscriptionResponse {
    let name = try SubscriptionName.checked(request.name, field: "name")
    let subscription = try await EventFeedError.convertingErrors(subscription: "name") { () throws(EventFeedError) in
      try await feed.get(name)
    }
    return GetSubscriptionResponse(subscription: try await endpoints.message(subscription))
  }
}
