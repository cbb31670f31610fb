import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// `GetEvent`: an event, while the feed stores it.
struct GetEventHandler: RPCHandler {
  typealias Method = EventsService.GetEvent
  let feed: EventFeed

  func handle(_ request: GetEventRequest, _ context: RPCContext) async throws(RPCError) -> GetEventResponse {
    guard let id = request.id, !id.isEmpty else { throw .invalidArgument(field: "id", "is missing") }
    let json = try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.event(id) }
    guard let json else { throw .notFound("no stored event has this id", field: "id") }
    let value = try? JSONValue(parsing: json, limits: .ownDocuments)
    return GetEventResponse(event: value?.objectValue)
  }
}
