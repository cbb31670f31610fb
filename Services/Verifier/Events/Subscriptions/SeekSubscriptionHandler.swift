import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `SeekSubscription`: moves a subscription to a time, to an event or to the end of the feed. Stored events from there on are delivered,
/// some of them again.
struct SeekSubscriptionHandler: RPCHandler {
  typealias Method = EventsService.SeekSubscription
  let feed: EventFeed
  let endpoints: EndpointDirectory

  func handle(_ request: SeekSubscriptionRequest, _ context: RPCContext) async throws(RPCError) -> SeekSubscriptionResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    let targets = [request.time != nil, request.eventId != nil, request.end == true].filter { $0 }.count
    guard targets == 1 else { throw .invalidArgument(field: "time", "exactly one of time, eventId and end must be given") }
    let start: FeedStart
    if let time = request.time {
      start = .time(time.millisecondsSince1970)
    } else if let id = request.eventId {
      guard !id.isEmpty else { throw .invalidArgument(field: "eventId", "is empty") }
      start = .event(id)
    } else {
      start = .now
    }
    let subscription = try await EventFeedError.convertingErrors(event: "eventId") { () throws(EventFeedError) in
      try await feed.seek(name, to: start)
    }
    return SeekSubscriptionResponse(subscription: try await endpoints.message(subscription))
  }
}
