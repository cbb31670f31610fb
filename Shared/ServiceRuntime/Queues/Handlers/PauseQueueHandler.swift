import AttributionProtocol
import AttributionQueue

struct PauseQueueHandler: RPCHandler {
  typealias Method = QueuesService.PauseQueue
  let administration: QueueAdministration

  func handle(_ request: PauseQueueRequest, _ context: RPCContext) async throws(RPCError) -> PauseQueueResponse {
    let queue = try QueueHandlers.name(request.queue)
    let snapshot = try await QueueHandlers.run { () throws(QueueError) in
      try await administration.pause(queue)
      return try await administration.snapshot(queue)
    }
    return PauseQueueResponse(queue: QueueHandlers.state(snapshot))
  }
}
