import AttributionProtocol
public import AttributionQueue

/// The handlers of `attribution.queues.v1.QueuesService`, for every service that works a queue.
public enum QueueHandlers {
  /// All handlers of the service. The call also registers the metrics of the queues.
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

  static func state(_ state: StoreFormState) -> StoreState {
    StoreState(
      form: Int32(state.form.rawValue), newestForm: Int32(StoreForm.newest.rawValue),
      shardsBehind: Int32(clamping: state.shardsBehind),
      outdatedWorkers: state.olderWorkers.map {
        OutdatedWorker(
          queue: $0.queue.rawValue, name: $0.name, form: Int32(clamping: $0.form), idleSeconds: $0.idleSeconds)
      })
  }

  static func message(_ letter: AttributionQueue.DeadLetter) -> AttributionProtocol.DeadLetter {
    AttributionProtocol.DeadLetter(
      id: letter.id.description, queue: letter.queue.rawValue, kind: letter.kind, attempts: Int32(clamping: letter.attempts),
      receivedAt: letter.receivedAt.map { Timestamp(millisecondsSince1970: $0) },
      diedAt: Timestamp(millisecondsSince1970: letter.diedAt), lastError: letter.lastError, history: letter.history)
  }

  /// Runs an operation on the queues. Throws `failed_precondition` if the data in Redis has a form that this build does not know, and
  /// `unavailable` after any other error.
  static func run<Value>(_ operation: () async throws(QueueError) -> Value) async throws(RPCError) -> Value {
    do throws(QueueError) { return try await operation() } catch {
      if case .unknownForm = error { throw .failedPrecondition("\(error)", reason: "UNKNOWN_STORE_FORM") }
      throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }
}
