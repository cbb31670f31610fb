import AttributionProtocol
import AttributionQueue

struct ReplayDeadLettersHandler: RPCHandler {
  typealias Method = QueuesService.ReplayDeadLetters
  let administration: QueueAdministration

  func handle(_ request: ReplayDeadLettersRequest, _ context: RPCContext) async throws(RPCError)
    -> ReplayDeadLettersResponse
  {
    let queue = try QueueHandlers.name(request.queue)
    let ids = try QueueHandlers.ids(request.ids)
    let count = try await QueueHandlers.run { () throws(QueueError) in try await administration.replay(queue, ids: ids) }
    return ReplayDeadLettersResponse(replayed: Int32(clamping: count))
  }
}
