import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `ListSubscriptions`: all subscriptions with their backlogs.
struct ListSubscriptionsHandler: RPCHandler {
  typealias Method = EventsService.ListSubscriptions
  let feed: EventFeed
  let endpoints: EndpointDirectory

  func handle(_ request: ListSubscriptionsRequest, _ context: RPCContext) async throws(RPCError)
    -> ListSubscriptionsResponse
  {
    let subscriptions = try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.list() }
    return ListSubscriptionsResponse(subscriptions: try await endpoints.messages(subscriptions))
  }
}
