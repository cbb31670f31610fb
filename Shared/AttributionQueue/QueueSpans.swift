import Traces

/// Spans of messages, by OpenTelemetry's conventions for messaging: whoever leaves a message in a queue sends it, and its context goes with the
/// message; who works it processes it, below that.
extension Tracer {
  private static func attributes(_ operation: String, _ queue: QueueName) -> [SpanAttribute] {
    [
      SpanAttribute("messaging.system", "redis"), SpanAttribute("messaging.operation.name", operation),
      SpanAttribute("messaging.operation.type", operation), SpanAttribute("messaging.destination.name", queue.rawValue),
    ]
  }

  /// The span of an accept. A message that says nothing of a trace is part of what the present task does.
  func sending(_ request: AcceptRequest) -> Span? {
    let message = request.message
    let parent = message.traceparent ?? (isRecording ? Span.current?.traceparent : nil)
    return span(
      "send \(request.queue.rawValue)", .producer, below: parent,
      Self.attributes("send", request.queue) + [
        SpanAttribute("messaging.message.body.size", .integer(Int64(message.body.count))),
        SpanAttribute("attribution.kind", message.kind),
      ])
  }

  /// The span of a message that a worker has taken, until it is settled.
  func processing(_ message: QueueMessage, _ id: DeliveryID, attempt: Int, in queue: QueueName) -> Span? {
    span(
      "process \(queue.rawValue)", .consumer, below: message.traceparent,
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
  /// - Parameter outcome: the word that metrics have for it.
  func end(settledAs outcome: String) {
    end(SpanAttribute("attribution.outcome", outcome), error: outcome == "dead" || outcome == "retried" ? outcome : nil)
  }
}

extension LeasedMessage {
  /// Does a piece of its work, as part of its span.
  func traced(_ work: @Sendable () async -> WorkOutcome) async -> WorkOutcome {
    guard let span else { return await work() }
    return await Span.$current.withValue(span) { await work() }
  }
}

extension QueueError {
  /// A bounded word.
  var word: String {
    switch self {
    case .unavailable: "store_unavailable"
    case .backlogFull: "backlog_full"
    case .leaseLost: "lease_lost"
    case .unsafeRedis: "unsafe_redis"
    case .unknownForm: "unknown_form"
    }
  }
}
