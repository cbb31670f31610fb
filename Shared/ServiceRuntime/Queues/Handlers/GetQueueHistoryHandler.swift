import AttributionProtocol
import AttributionQueue

struct GetQueueHistoryHandler: RPCHandler {
  typealias Method = QueuesService.GetQueueHistory
  let history: QueueHistory

  func handle(_ request: GetQueueHistoryRequest, _ context: RPCContext) async throws(RPCError) -> GetQueueHistoryResponse {
    let minutes = Int(request.minutes ?? 60)
    guard (1...QueueHistory.storedMinutes).contains(minutes) else {
      throw .invalidArgument(field: "minutes", "must be 1 to \(QueueHistory.storedMinutes)")
    }
    let queue = try request.queue.map { name throws(RPCError) in try QueueHandlers.name(name) }
    let moments = try await QueueHandlers.run { () throws(QueueError) in try await history.moments(last: minutes) }
    return GetQueueHistoryResponse(
      moments: moments.map { moment in
        QueueMoment(
          start: Timestamp(millisecondsSince1970: moment.start),
          queues: moment.queues.filter { queue == nil || $0.queue == queue }.map(QueueHandlers.state))
      })
  }
}
