import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// `GetDeliveryStory`: the history of a delivery from its receipt to its event, and which subscriptions have processed the event.
struct GetDeliveryStoryHandler: RPCHandler {
  typealias Method = EventsService.GetDeliveryStory
  let deliveries: DeliveryQueue
  let feed: EventFeed

  func handle(_ request: GetDeliveryStoryRequest, _ context: RPCContext) async throws(RPCError) -> GetDeliveryStoryResponse {
    guard let id = DeliveryID(request.id ?? "") else { throw .invalidArgument(field: "id", "must be the id of a delivery") }
    let story: DeliveryStory?
    do { story = try await deliveries.story(of: id) } catch {
      throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
    guard let story else { throw .notFound("no such delivery, or its record is no longer stored", field: "id") }
    let record = story.record
    var response = GetDeliveryStoryResponse(
      id: id.description, state: record.state.rawValue, queue: record.queue, kind: record.kind,
      attempts: Int32(clamping: record.attempts), reason: record.reason, lastError: record.lastError)
    response.steps = story.steps.map { entry in
      DeliveryStep(
        time: entry.time.map { Timestamp(millisecondsSince1970: $0) }, step: entry.step.rawValue, detail: entry.detail)
    }
    guard let eventId = record.eventId else { return response }
    let found = try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.eventWithReaders(eventId) }
    if let found {
      response.steps.append(
        DeliveryStep(
          time: Timestamp(millisecondsSince1970: found.event.position.milliseconds), step: "published", detail: found.event.type))
      response.event = try? JSONValue(parsing: found.event.json, limits: .ownDocuments).objectValue
      response.readers = found.readers.map { EventReader(subscription: $0.subscription, state: $0.state.rawValue) }
    } else {
      response.steps.append(DeliveryStep(step: "published", detail: "\(eventId), which the feed does not keep any more"))
    }
    return response
  }
}
