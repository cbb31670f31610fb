import AttributionProtocol
import AttributionQueue
import ServiceRuntime

struct DeleteSubscriptionHandler: RPCHandler {
  typealias Method = EventsService.DeleteSubscription
  let feed: EventFeed

  func handle(_ request: DeleteSubscriptionRequest, _ context: RPCContext) async throws(RPCError)
    -> DeleteSubscriptionResponse
  {
    let name = try SubscriptionName.checked(request.name, field: "name")
    let existed = try await EventFeedError.asking { () throws(EventFeedError) in try await feed.delete(name) }
    guard existed else { throw .notFound("no subscription of that name", field: "name") }
    return DeleteSubscriptionResponse()
  }
}
