import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `DeleteSubscription`: deletes a subscription with its positions and leases. Events are not deleted.
struct DeleteSubscriptionHandler: RPCHandler {
  typealias Method = EventsService.DeleteSubscription
  let feed: EventFeed

  func handle(_ request: DeleteSubscriptionRequest, _ context: RPCContext) async throws(RPCError)
    -> DeleteSubscriptionResponse
  {
    let name = try SubscriptionName.checked(request.name, field: "name")
    let existed = try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.delete(name) }
    guard existed else { throw .notFound("no subscription has this name", field: "name") }
    return DeleteSubscriptionResponse()
  }
}
