import Traces

/// Spans of messages by OpenTelemetry's messaging conventions: accepting a message is a `send` span, whose context is stored with the
/// message; handling the message is a `process` span, a child of that.
///
/// ``QueueMessage`` has two headers of the request: `traceparent` and the request's id. No span of a message has the request's id, because
/// the message does not say whether the sender chose it, and a sender may use the identifier of a device.
extension Tracer {
  private static func attributes(_ operation: String, _ queue: QueueName) -> [SpanAttribute] {
    [
      SpanAttribute("messaging.system", "redis"), SpanAttribute("messaging.operation.name", operation),
      SpanAttribute("messaging.operation.type", operation), SpanAttribute("messaging.destination.name", queue.rawValue),
    ]
  }

  /// The span of an accept. A message without a trace context becomes a child of the current task's span.
  func sending(_ request: AcceptRequest) -> Span? {
    let message = request.message
    let parent = message.traceparent ?? (isRecording ? Span.current?.traceparent : nil)
    return span(
      "send \(request.queue.rawValue)", .producer, childOf: parent,
      Self.attributes("send", request.queue) + [
        SpanAttribute("messaging.message.body.size", .integer(Int64(message.body.count))),
        SpanAttribute("attribution.kind", message.kind),
      ])
  }

  /// The span of a message from the time at which a worker reads it until it is settled.
  func processing(_ message: QueueMessage, _ id: DeliveryID, attempt: Int, in queue: QueueName) -> Span? {
    span(
      "process \(queue.rawValue)", .consumer, childOf: message.traceparent,
      Self.attributes("process", queue) + [
        SpanAttribute("messaging.destination.partition.id", String(id.shard.index)), SpanAttribute("messaging.message.id", id.description),
        SpanAttribute("attribution.kind", message.kind), SpanAttribute("attribution.attempt", .integer(Int64(attempt))),
      ])
  }
}

extension Span {
  func end(_ outcome: AcceptOutcome) {
    switch outcome {
    case .accepted(let id): end(SpanAttribute("messaging.message.id", id.description))
    case .duplicate(let id): end(SpanAttribute("messaging.message.id", id.description), SpanAttribute("attribution.duplicate", true))
    }
  }

  /// Ends the span of a message that was settled.
  ///
  /// - Parameter outcome: the value of the `outcome` label in metrics.
  func end(settledAs outcome: String) {
    end(SpanAttribute("attribution.outcome", outcome), error: outcome == "dead" || outcome == "retried" ? outcome : nil)
  }
}

extension LeasedMessage {
  /// Runs a part of the message's work with the message's span as the current one.
  func traced(_ work: @Sendable () async -> WorkOutcome) async -> WorkOutcome {
    guard let span else { return await work() }
    return await Span.$current.withValue(span) { await work() }
  }
}

extension QueueError {
  /// The error's name in spans, out of a fixed set.
  var label: String {
    switch self {
    case .unavailable: "store_unavailable"
    case .backlogFull: "backlog_full"
    case .leaseLost: "lease_lost"
    case .unsafeRedis: "unsafe_redis"
    case .unknownForm: "unknown_form"
    }
  }
}
