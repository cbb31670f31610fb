import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// `PullEvents`: leases events for a reader of a subscription, and waits for the first one if there are none.
///
/// `EventFeed.pull` runs the script `pull.lua` in the feed's shards one group after another, until there are enough events. The script
/// leases events by a Redis consumer group that is named as the subscription. A reader acknowledges each event (`AcknowledgeEvents`); if
/// its lease ends before, another reader gets the event.
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
    let leaseSeconds = request.leaseSeconds ?? 60
    guard leaseSeconds >= 1, let lease = LeaseLength.roundedUp(leaseSeconds) else {
      throw .invalidArgument(field: "leaseSeconds", "must be 1 to 3600")
    }
    // The wait ends before the call's deadline: the caller would never see events that are leased after it.
    let maxWait = min(Duration.milliseconds(Int64(wait)), context.remaining - .milliseconds(500))
    let events = try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      try await feed.pull(name, limit: Int(limit), wait: max(.zero, maxWait), lease: lease)
    }
    // The caller has probably disconnected and would not acknowledge the events. If it has not, it pulls again.
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

  /// Ends the leases, so that other readers get the events at once. If this fails, the leases expire.
  private func giveBack(_ events: [FeedEvent], to name: String) async {
    _ = try? await feed.modifyLease(name, ackIds: events.map(\.ackId), lease: .zero)
  }
}
