import AttributionProtocol
import AttributionQueue

struct ResumeQueueHandler: RPCHandler {
  typealias Method = QueuesService.ResumeQueue
  let administration: QueueAdministration

  func handle(_ request: ResumeQueueRequest, _ context: RPCContext) async throws(RPCError) -> ResumeQueueResponse {
    let queue = try QueueHandlers.name(request.queue)
    let snapshot = try await QueueHandlers.run { () throws(QueueError) in
      try await administration.resume(queue)
      return try await administration.snapshot(queue)
    }
    return ResumeQueueResponse(queue: QueueHandlers.state(snapshot))
  }
}
