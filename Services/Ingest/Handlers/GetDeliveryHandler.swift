import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime

/// `GetDelivery`: returns the state of a delivery, by the id that the public route has returned. For a rejected delivery it returns also
/// the body, as long as that is stored.
struct GetDeliveryHandler: RPCHandler {
  typealias Method = IngestService.GetDelivery

  let deliveries: DeliveryQueue

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    guard let id = DeliveryID(request.id ?? "") else {
      throw .invalidArgument(field: "id", "must be the id of a delivery")
    }
    let record: DeliveryRecord?
    var body: [UInt8]?
    do {
      record = try await deliveries.delivery(id)
      if record?.state == .rejected { body = try await deliveries.rejectedBody(id) }
    } catch {
      throw .unavailable("the queue does not answer", reason: "QUEUE_UNAVAILABLE")
    }
    guard let record else { throw .notFound("no such delivery, or its record is no longer stored") }
    return GetDeliveryResponse(
      id: id.description, state: record.state.rawValue,
      acceptedAt: record.acceptedAt.map { Timestamp(millisecondsSince1970: $0) },
      completedAt: record.completedAt.map { Timestamp(millisecondsSince1970: $0) },
      attempts: Int32(clamping: record.attempts), eventId: record.eventId, reason: record.reason,
      lastError: record.lastError,
      queue: record.queue, kind: record.kind, body: body.map { Base64.encode($0) },
      reverificationOf: record.earlierRejection?.eventId)
  }
}
