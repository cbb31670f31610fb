import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// `ListEvents`: the stored events of a time range, without a subscription, page by page.
struct ListEventsHandler: RPCHandler {
  typealias Method = EventsService.ListEvents
  let feed: EventFeed

  func handle(_ request: ListEventsRequest, _ context: RPCContext) async throws(RPCError) -> ListEventsResponse {
    let limit = request.maxEvents ?? 100
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxEvents", "must be 1 to 1000") }
    for (index, type) in request.types.enumerated() where EventType(rawValue: type) == nil {
      throw .invalidArgument(field: "types[\(index)]", "is not an event type")
    }
    let filter = try FeedFilter(validating: request.filter, field: "filter")
    if let start = request.startTime, let end = request.endTime, start > end {
      throw .invalidArgument(field: "endTime", "is before startTime")
    }
    var cursor: FeedCursor?
    if let token = request.pageToken {
      cursor = FeedCursor(token)
      guard cursor != nil else { throw .invalidArgument(field: "pageToken", "is not a nextPageToken of this method") }
    }
    let page = try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      try await feed.list(
        types: request.types, filter: filter, from: max(0, request.startTime?.millisecondsSince1970 ?? 0),
        until: request.endTime?.millisecondsSince1970, after: cursor, limit: Int(limit))
    }
    return ListEventsResponse(
      events: page.events.compactMap { try? JSONValue(parsing: $0.json, limits: .ownDocuments).objectValue },
      nextPageToken: page.next?.text, reached: Timestamp(millisecondsSince1970: page.reached))
  }
}
