import AttributionProtocol
import AttributionQueue

/// Lists the dead letters of one queue, or of all queues one after the other. A page token is the queue's name, a colon, and the position
/// of the last dead letter of the page.
struct ListDeadLettersHandler: RPCHandler {
  typealias Method = QueuesService.ListDeadLetters
  let administration: QueueAdministration

  func handle(_ request: ListDeadLettersRequest, _ context: RPCContext) async throws(RPCError)
    -> ListDeadLettersResponse
  {
    let limit = request.maxLetters ?? 100
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxLetters", "must be 1 to 1000") }
    var queues = QueueName.allCases
    if let name = request.queue { queues = [try QueueHandlers.name(name)] }
    var position: DeadLetterPosition?
    if let token = request.pageToken {
      let parts = token.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let queue = QueueName(rawValue: String(parts[0])), let index = queues.firstIndex(of: queue),
        let found = DeadLetterPosition(parts[1])
      else { throw .invalidArgument(field: "pageToken", "is not a token that this method returned") }
      queues.removeFirst(index)
      position = found
    }
    var response = ListDeadLettersResponse()
    for queue in queues where response.deadLetters.count < Int(limit) {
      let remaining = Int(limit) - response.deadLetters.count
      let letters = try await QueueHandlers.run { [position] () throws(QueueError) in
        try await administration.deadLetters(queue, after: position, limit: remaining)
      }
      position = nil
      response.deadLetters += letters.map(QueueHandlers.message)
      if letters.count == remaining, let last = letters.last { response.nextPageToken = "\(queue.rawValue):\(last.position.text)" }
    }
    return response
  }
}
