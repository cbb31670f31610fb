import AttributionProtocol
import AttributionQueue

extension RPCError {
  /// The error of a failed operation of the queue. A caller whose token does not fit into the queue should wait longer.
  static func queue(_ error: QueueError) -> RPCError {
    let delay: Duration = if case .backlogFull = error { .seconds(30) } else { .seconds(1) }
    return .unavailable("the queue does not answer or is full", reason: "QUEUE_UNAVAILABLE", retryAfter: delay)
  }

  /// The error of a failed query of the stored exchanges.
  static func store(_ error: any Error) -> RPCError {
    .unavailable("the exchange store does not answer", reason: "STORE_UNAVAILABLE", retryAfter: .seconds(1))
  }
}
