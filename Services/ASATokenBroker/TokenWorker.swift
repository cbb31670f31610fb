import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Logging
import WireJSON

/// Works the queue `tokens`: asks Apple about a token when the rule says so, until there is an outcome.
struct TokenWorker: Sendable {
  let store: ExchangeStore
  let apple: AdServicesClient
  let rule: AdServicesRetryRule
  let clock: ScaledClock
  let metrics: BrokerMetrics
  let logger: Logger

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    let submission: TokenSubmission
    do {
      submission = try TokenSubmission(
        token: String(decoding: lease.message.body, as: UTF8.self), attributes: lease.message.attributes,
        receivedAt: lease.message.receivedAt)
    } catch {
      return .deadLetter(error: "the message is no token: \(error.field) \(error.reason)")
    }
    do {
      let id = lease.deliveryID.description
      var exchange = try await store.exchange(id) ?? Exchange(id: id, submission: submission)
      // Decided before, and whoever decided it died before the event was out: no second call.
      if exchange.outcome != nil { return try complete(exchange) }
      return try await proceed(&exchange, submission)
    } catch {
      return .retry(after: nil, error: "the exchange store does not answer")
    }
  }

  private func proceed(_ exchange: inout Exchange, _ submission: TokenSubmission) async throws -> WorkOutcome {
    let createdAt = submission.createdAt
    let now = clock.now(since: submission.receivedAt)
    if exchange.attempts.isEmpty {
      switch rule.start(createdAt: createdAt, now: now) {
      case .call(let at) where at > now: return .retry(after: clock.real(at - now), error: "not due yet")
      case .call: break
      case .finish(let outcome, _): return try await finish(&exchange, outcome, nil)
      }
    } else if now > createdAt + AttributionToken.lifetimeMilliseconds {
      return try await finish(&exchange, .expired, nil)
    }
    switch await apple.ask(submission.token) {
    case .notAsked(let wait):
      metrics.notAsked()
      return .retry(after: .milliseconds(wait), error: "Apple's server is failing; not asked")
    case .answered(let answer, let retryAfter):
      metrics.called(answer)
      exchange.attempts.append(.init(at: clock.wall(), result: answer.summary))
      let action = rule.next(
        after: answer, history: &exchange.history, createdAt: createdAt, now: clock.now(since: submission.receivedAt),
        retryAfter: retryAfter, chance: .random(in: 0..<1))
      switch action {
      case .finish(let outcome, let record): return try await finish(&exchange, outcome, record)
      case .call(let at):
        try await store.save(exchange)
        logger.info(
          "token not exchanged yet",
          metadata: [
            "exchange": "\(exchange.id)", "answer": "\(answer.summary)", "attempts": "\(exchange.attempts.count)",
          ])
        return .retry(after: clock.real(at - clock.now(since: submission.receivedAt)), error: answer.summary)
      }
    }
  }

  /// The outcome is stored first: if this process dies before the event is out, the next one finds it and tells the
  /// same.
  private func finish(
    _ exchange: inout Exchange, _ outcome: AdServicesOutcome, _ record: AppleAttribution.AttributionRecord?
  ) async throws -> WorkOutcome {
    exchange.outcome = outcome
    exchange.record = record
    exchange.finishedAt = clock.wall()
    if outcome == .attributed, let record, let installId = exchange.installId {
      let last = try await store.lastAttribution(bundleId: exchange.bundleId, installId: installId)
      // The user's consent changed and the system made a new token: the detailed record is the better one.
      if let last, last.eventId != exchange.eventId, record.detail == .detailed || last.detail != "detailed" {
        exchange.supersedes = last.eventId
      }
      if last == nil || exchange.supersedes != nil {
        try await store.saveLastAttribution(
          bundleId: exchange.bundleId, installId: installId, eventId: exchange.eventId, detail: record.detail.rawValue)
      }
    }
    try await store.save(exchange)
    metrics.ended(outcome, attMismatch: exchange.isATTMismatch)
    logger.info(
      "token exchanged",
      metadata: [
        "exchange": "\(exchange.id)", "outcome": "\(outcome.rawValue)", "attempts": "\(exchange.attempts.count)",
        "attMismatch": "\(exchange.isATTMismatch)",
      ])
    return try complete(exchange)
  }

  private func complete(_ exchange: Exchange) throws -> WorkOutcome {
    guard let event = exchange.event else { return .deadLetter(error: "the stored exchange is damaged") }
    return .complete(
      Completion(
        state: exchange.outcome?.isResolved == true ? .done : .rejected, naturalKey: nil,
        events: [EventRecord(id: event.id, type: event.type, json: event.json)],
        reason: exchange.outcome?.isResolved == true ? nil : exchange.outcome?.rawValue))
  }
}

extension AdServicesAnswer {
  /// For attempt lists and logs; never the body.
  fileprivate var summary: String {
    switch self {
    case .record: "200"
    case .invalidToken: "400"
    case .notFound: "404"
    case .tryLater(let trouble): trouble.description
    }
  }
}
