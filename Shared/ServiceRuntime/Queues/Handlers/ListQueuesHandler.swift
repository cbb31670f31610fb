import AttributionProtocol
import AttributionQueue

struct ListQueuesHandler: RPCHandler {
  typealias Method = QueuesService.ListQueues
  let administration: QueueAdministration

  func handle(_ request: ListQueuesRequest, _ context: RPCContext) async throws(RPCError) -> ListQueuesResponse {
    var queues = QueueName.allCases
    if let name = request.queue { queues = [try QueueHandlers.name(name)] }
    var response = ListQueuesResponse()
    for queue in queues {
      let snapshot = try await QueueHandlers.run { () throws(QueueError) in try await administration.snapshot(queue) }
      response.queues.append(QueueHandlers.state(snapshot))
    }
    return response
  }
}
