import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `CreateSubscription`: creates a subscription, which is pushed if the request names an endpoint and pulled otherwise. If the same
/// subscription exists, it is returned.
struct CreateSubscriptionHandler: RPCHandler {
  typealias Method = EventsService.CreateSubscription
  let feed: EventFeed
  let endpoints: EndpointDirectory

  func handle(_ request: CreateSubscriptionRequest, _ context: RPCContext) async throws(RPCError)
    -> CreateSubscriptionResponse
  {
    let name = try SubscriptionName.checked(request.name, field: "name")
    let start = try Self.start(request)
    for (index, type) in request.types.enumerated() where EventType(rawValue: type) == nil {
      throw .invalidArgument(field: "types[\(index)]", "is not an event type")
    }
    let filter = try FeedFilter(validating: request.filter, field: "filter")
    if let push = request.push {
      guard context.mayCall(EventsService.UpdateEndpoint.self) else {
        throw RPCError(
          .permissionDenied, "push: a caller that names an endpoint must be allowed to call UpdateEndpoint too",
          reason: "CALLER_NOT_ALLOWED")
      }
      guard request.ordered == nil else { throw .invalidArgument(field: "ordered", "must be given as push.ordered") }
      let requested = EventSubscription(name: name, types: request.types, filter: filter, start: start)
      let (created, secret) = try await endpoints.create(requested, try endpoints.newSettings(push))
      return CreateSubscriptionResponse(subscription: try await endpoints.message(created), secret: secret)
    }
    let requested = EventSubscription(
      name: name, types: request.types, filter: filter, start: start, isOrdered: request.ordered ?? false)
    let subscription = try await EventFeedError.convertingErrors(event: "startEventId") { () throws(EventFeedError) in
      try await feed.create(requested)
    }
    return CreateSubscriptionResponse(subscription: Subscription(subscription))
  }

  /// The position at which the subscription begins.
  private static func start(_ request: CreateSubscriptionRequest) throws(RPCError) -> FeedStart {
    if request.startTime != nil || request.startEventId != nil {
      guard request.start == nil else { throw .invalidArgument(field: "start", "excludes startTime and startEventId") }
    }
    if let time = request.startTime {
      guard request.startEventId == nil else { throw .invalidArgument(field: "startEventId", "excludes startTime") }
      return .time(time.millisecondsSince1970)
    }
    if let id = request.startEventId {
      guard !id.isEmpty else { throw .invalidArgument(field: "startEventId", "is empty") }
      return .event(id)
    }
    switch request.start ?? "beginning" {
    case "beginning": return .beginning
    case "now": return .now
    default: throw .invalidArgument(field: "start", "must be beginning or now")
    }
  }
}
