import AttributionProtocol
import AttributionQueue
import Cryptography
import WireJSON

struct GetDeadLetterHandler: RPCHandler {
  typealias Method = QueuesService.GetDeadLetter
  let administration: QueueAdministration

  func handle(_ request: GetDeadLetterRequest, _ context: RPCContext) async throws(RPCError) -> GetDeadLetterResponse {
    guard let id = DeliveryID(request.id ?? "") else { throw .invalidArgument(field: "id", "must be the id of a delivery") }
    let queue = try request.queue.map { name throws(RPCError) in try QueueHandlers.name(name) }
    let found = try await QueueHandlers.run { () throws(QueueError) in try await administration.deadLetter(id, queue: queue) }
    guard let found else { throw .notFound("no dead letter has this id", field: "id") }
    var response = GetDeadLetterResponse(deadLetter: QueueHandlers.message(found.letter))
    if let message = found.message {
      response.body = Base64.encode(message.body)
      response.source = message.source
      let attributes = message.attributes.sorted { $0.key < $1.key }
      response.attributes = JSONObject(attributes.map { JSONObject.Member(key: $0.key, value: .string($0.value)) })
      response.traceparent = message.traceparent
      response.requestId = message.requestId
    }
    return response
  }
}
