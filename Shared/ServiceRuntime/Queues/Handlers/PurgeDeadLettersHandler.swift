import AttributionProtocol
import AttributionQueue

struct PurgeDeadLettersHandler: RPCHandler {
  typealias Method = QueuesService.PurgeDeadLetters
  let administration: QueueAdministration

  func handle(_ request: PurgeDeadLettersRequest, _ context: RPCContext) async throws(RPCError)
    -> PurgeDeadLettersResponse
  {
    let queue = try QueueHandlers.name(request.queue)
    let ids = try QueueHandlers.ids(request.ids)
    let count = try await QueueHandlers.run { () throws(QueueError) in try await administration.purge(queue, ids: ids) }
    return PurgeDeadLettersResponse(purged: Int32(clamping: count))
  }
}
