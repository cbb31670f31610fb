import AttributionProtocol
import AttributionQueue
import ServiceRuntime

struct CreateSubscriptionHandler: RPCHandler {
  typealias Method = EventsService.CreateSubscription
  let feed: EventFeed

  func handle(_ request: CreateSubscriptionRequest, _ context: RPCContext) async throws(RPCError)
    -> CreateSubscriptionResponse
  {
    let name = try SubscriptionName.checked(request.name, field: "name")
    let start = request.start ?? "beginning"
    guard start == "beginning" || start == "now" else {
      throw .invalidArgument(field: "start", "must be beginning or now")
    }
    for (index, type) in request.types.enumerated() where EventType(rawValue: type) == nil {
      throw .invalidArgument(field: "types[\(index)]", "is no event type")
    }
    let subscription = try await EventFeedError.asking { () throws(EventFeedError) in
      try await feed.create(name: name, types: Array(Set(request.types)), start: start)
    }
    return CreateSubscriptionResponse(subscription: SubscriptionName.message(subscription))
  }
}
