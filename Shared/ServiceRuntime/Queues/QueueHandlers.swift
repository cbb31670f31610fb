import AttributionProtocol
public import AttributionQueue
import Cryptography
import WireJSON

/// `attribution.queues.v1.QueuesService`, for every service that works a queue.
public enum QueueHandlers {
  /// All handlers; also registers the metrics of the queues.
  public static func all(_ deliveries: DeliveryQueue, metrics: MetricsRegistry) -> [any RPCHandler] {
    let administration = QueueAdministration(deliveries: deliveries)
    QueueMetrics.install(administration, metrics)
    return [
      ListQueuesHandler(administration: administration), GetQueueHistoryHandler(history: QueueHistory(deliveries: deliveries)),
      ListDeadLettersHandler(administration: administration),
      GetDeadLetterHandler(administration: administration),
      ReplayDeadLettersHandler(administration: administration), PurgeDeadLettersHandler(administration: administration),
      PauseQueueHandler(administration: administration), ResumeQueueHandler(administration: administration),
      GetStoreFormHandler(administration: administration), SetStoreFormHandler(administration: administration),
    ]
  }

  static func name(_ text: String?) throws(RPCError) -> QueueName {
    guard let text else { throw .invalidArgument(field: "queue", "is missing") }
    guard let queue = QueueName(rawValue: text) else {
      throw .invalidArgument(
        field: "queue", "must be one of \(QueueName.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return queue
  }

  static func ids(_ texts: [String]) throws(RPCError) -> Set<DeliveryID> {
    var ids: Set<DeliveryID> = []
    for (index, text) in texts.enumerated() {
      guard let id = DeliveryID(text) else {
        throw .invalidArgument(field: "ids[\(index)]", "is not the id of a delivery")
      }
      ids.insert(id)
    }
    return ids
  }

  static func state(_ snapshot: QueueSnapshot) -> QueueState {
    QueueState(
      name: snapshot.queue.rawValue, depth: snapshot.depth, inFlight: snapshot.inFlight, delayed: snapshot.delayed,
      dead: snapshot.dead,
      oldestAgeSeconds: snapshot.oldestAgeSeconds, paused: snapshot.paused)
  }

  static func message(_ letter: AttributionQueue.DeadLetter) -> AttributionProtocol.DeadLetter {
    AttributionProtocol.DeadLetter(
      id: letter.id.description, queue: letter.queue.rawValue, kind: letter.kind, attempts: Int32(clamping: letter.attempts),
      receivedAt: letter.receivedAt.map { Timestamp(millisecondsSince1970: $0) },
      diedAt: Timestamp(millisecondsSince1970: letter.diedAt), lastError: letter.lastError, history: letter.history)
  }

  /// Calls the queue. Throws `unavailable` if Redis is unavailable, `failed_precondition` if the store has an unknown form.
  static func ask<Value>(_ question: () async throws(QueueError) -> Value) async throws(RPCError) -> Value {
    do throws(QueueError) { return try await question() } catch {
      if case .unknownForm = error { throw .failedPrecondition("\(error)", reason: "UNKNOWN_STORE_FORM") }
      throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }
}

struct ListQueuesHandler: RPCHandler {
  typealias Method = QueuesService.ListQueues
  let administration: QueueAdministration

  func handle(_ request: ListQueuesRequest, _ context: RPCContext) async throws(RPCError) -> ListQueuesResponse {
    var queues = QueueName.allCases
    if let name = request.queue { queues = [try QueueHandlers.name(name)] }
    var response = ListQueuesResponse()
    for queue in queues {
      let snapshot = try await QueueHandlers.ask { () throws(QueueError) in try await administration.snapshot(queue) }
      response.queues.append(QueueHandlers.state(snapshot))
    }
    return response
  }
}

struct GetQueueHistoryHandler: RPCHandler {
  typealias Method = QueuesService.GetQueueHistory
  let history: QueueHistory

  func handle(_ request: GetQueueHistoryRequest, _ context: RPCContext) async throws(RPCError) -> GetQueueHistoryResponse {
    let minutes = Int(request.minutes ?? 60)
    guard (1...QueueHistory.kept).contains(minutes) else {
      throw .invalidArgument(field: "minutes", "must be 1 to \(QueueHistory.kept)")
    }
    let queue = try request.queue.map { name throws(RPCError) in try QueueHandlers.name(name) }
    let moments = try await QueueHandlers.ask { () throws(QueueError) in try await history.moments(last: minutes) }
    return GetQueueHistoryResponse(
      moments: moments.map { moment in
        QueueMoment(
          start: Timestamp(millisecondsSince1970: moment.start),
          queues: moment.queues.filter { queue == nil || $0.queue == queue }.map(QueueHandlers.state))
      })
  }
}

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
    var place: DeadLetterPosition?
    if let token = request.pageToken {
      let parts = token.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let queue = QueueName(rawValue: String(parts[0])), let begun = queues.firstIndex(of: queue),
        let found = DeadLetterPosition(parts[1])
      else { throw .invalidArgument(field: "pageToken", "is not a token that this method returned") }
      queues.removeFirst(begun)
      place = found
    }
    var response = ListDeadLettersResponse()
    for queue in queues where response.deadLetters.count < Int(limit) {
      let left = Int(limit) - response.deadLetters.count
      let letters = try await QueueHandlers.ask { [place] () throws(QueueError) in
        try await administration.deadLetters(queue, after: place, limit: left)
      }
      place = nil
      response.deadLetters += letters.map(QueueHandlers.message)
      if letters.count == left, let last = letters.last { response.nextPageToken = "\(queue.rawValue):\(last.place.text)" }
    }
    return response
  }
}

struct GetDeadLetterHandler: RPCHandler {
  typealias Method = QueuesService.GetDeadLetter
  let administration: QueueAdministration

  func handle(_ request: GetDeadLetterRequest, _ context: RPCContext) async throws(RPCError) -> GetDeadLetterResponse {
    guard let id = DeliveryID(request.id ?? "") else { throw .invalidArgument(field: "id", "must be the id of a delivery") }
    let queue = try request.queue.map { name throws(RPCError) in try QueueHandlers.name(name) }
    let found = try await QueueHandlers.ask { () throws(QueueError) in try await administration.deadLetter(id, queue: queue) }
    guard let found else { throw .notFound("no dead letter of that id", field: "id") }
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

struct ReplayDeadLettersHandler: RPCHandler {
  typealias Method = QueuesService.ReplayDeadLetters
  let administration: QueueAdministration

  func handle(_ request: ReplayDeadLettersRequest, _ context: RPCContext) async throws(RPCError)
    -> ReplayDeadLettersResponse
  {
    let queue = try QueueHandlers.name(request.queue)
    let ids = try QueueHandlers.ids(request.ids)
    let count = try await QueueHandlers.ask { () throws(QueueError) in try await administration.replay(queue, ids: ids)
    }
    return ReplayDeadLettersResponse(replayed: Int32(clamping: count))
  }
}

struct PurgeDeadLettersHandler: RPCHandler {
  typealias Method = QueuesService.PurgeDeadLetters
  let administration: QueueAdministration

  func handle(_ request: PurgeDeadLettersRequest, _ context: RPCContext) async throws(RPCError)
    -> PurgeDeadLettersResponse
  {
    let queue = try QueueHandlers.name(request.queue)
    let ids = try QueueHandlers.ids(request.ids)
    let count = try await QueueHandlers.ask { () throws(QueueError) in try await administration.purge(queue, ids: ids) }
    return PurgeDeadLettersResponse(purged: Int32(clamping: count))
  }
}

struct PauseQueueHandler: RPCHandler {
  typealias Method = QueuesService.PauseQueue
  let administration: QueueAdministration

  func handle(_ request: PauseQueueRequest, _ context: RPCContext) async throws(RPCError) -> PauseQueueResponse {
    let queue = try QueueHandlers.name(request.queue)
    let snapshot = try await QueueHandlers.ask { () throws(QueueError) in
      try await administration.pause(queue)
      return try await administration.snapshot(queue)
    }
    return PauseQueueResponse(queue: QueueHandlers.state(snapshot))
  }
}

struct ResumeQueueHandler: RPCHandler {
  typealias Method = QueuesService.ResumeQueue
  let administration: QueueAdministration

  func handle(_ request: ResumeQueueRequest, _ context: RPCContext) async throws(RPCError) -> ResumeQueueResponse {
    let queue = try QueueHandlers.name(request.queue)
    let snapshot = try await QueueHandlers.ask { () throws(QueueError) in
      try await administration.resume(queue)
      return try await administration.snapshot(queue)
    }
    return ResumeQueueResponse(queue: QueueHandlers.state(snapshot))
  }
}
