import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

struct PullEventsHandler: RPCHandler {
  typealias Method = EventsService.PullEvents
  static let waits = true
  let feed: EventFeed

  func handle(_ request: PullEventsRequest, _ context: RPCContext) async throws(RPCError) -> PullEventsResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    let limit = request.maxEvents ?? 100
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxEvents", "must be 1 to 1000") }
    let wait = request.waitMilliseconds ?? 0
    guard (0...30_000).contains(wait) else { throw .invalidArgument(field: "waitMilliseconds", "must be 0 to 30000") }
    let lease = request.leaseSeconds ?? 60
    guard (1...3600).contains(lease) else { throw .invalidArgument(field: "leaseSeconds", "must be 1 to 3600") }
    // Events taken after the caller has stopped waiting would be leased to nobody.
    let patience = min(Duration.milliseconds(Int64(wait)), context.remaining - .milliseconds(500))
    let events = try await EventFeedError.asking { () throws(EventFeedError) in
      try await feed.pull(name, limit: Int(limit), wait: max(.zero, patience), lease: .seconds(Int64(lease)))
    }
    // The caller has probably left, and would not acknowledge the events. If it has not, it pulls again.
    guard !Task.isCancelled || events.isEmpty else {
      await giveBack(events, to: name)
      return PullEventsResponse(events: [])
    }
    return PullEventsResponse(
      events: events.map { event in
        PulledEvent(
          ackId: event.ackId,
          event: (try? JSONValue(parsing: event.json, limits: .ownDocuments))?.objectValue)
      })
  }

  /// Ends the leases, so that other readers get the events at once. If that fails, the leases end by time.
  private func giveBack(_ events: [FeedEvent], to name: String) async {
    _ = try? await feed.modifyLease(name, ackIds: events.map(\.ackId), lease: .zero)
  }
}
