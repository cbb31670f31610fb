import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `AcknowledgeEvents`: ends the delivery of pulled events to a subscription. An acknowledged event is not delivered to it again.
struct AcknowledgeEventsHandler: RPCHandler {
  typealias Method = EventsService.AcknowledgeEvents
  let feed: EventFeed

  func handle(_ request: AcknowledgeEventsRequest, _ context: RPCContext) async throws(RPCError)
    -> AcknowledgeEventsResponse
  {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    guard !request.ackIds.isEmpty else { throw .invalidArgument(field: "ackIds", "is missing") }
    let count = try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      try await feed.acknowledge(name, ackIds: request.ackIds)
    }
    return AcknowledgeEventsResponse(acknowledged: Int32(clamping: count))
  }
}
