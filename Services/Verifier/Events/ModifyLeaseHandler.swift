import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `ModifyLease`: extends or ends the leases of pulled events.
struct ModifyLeaseHandler: RPCHandler {
  typealias Method = EventsService.ModifyLease
  let feed: EventFeed

  func handle(_ request: ModifyLeaseRequest, _ context: RPCContext) async throws(RPCError) -> ModifyLeaseResponse {
    let name = try SubscriptionName.checked(request.subscription, field: "subscription")
    guard !request.ackIds.isEmpty else { throw .invalidArgument(field: "ackIds", "is missing") }
    // A missing value could mean an extension or a release.
    guard let leaseSeconds = request.leaseSeconds else { throw .invalidArgument(field: "leaseSeconds", "is missing") }
    guard leaseSeconds >= 0, let lease = leaseSeconds == 0 ? .zero : LeaseLength.roundedUp(leaseSeconds) else {
      throw .invalidArgument(field: "leaseSeconds", "must be 0 to 3600")
    }
    let count = try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      try await feed.modifyLease(name, ackIds: request.ackIds, lease: lease)
    }
    return ModifyLeaseResponse(modified: Int32(clamping: count))
  }
}
