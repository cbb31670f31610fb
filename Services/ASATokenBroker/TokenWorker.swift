import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Logging
import ServiceRuntime
import UpstreamPacing
import WireJSON

/// Works the queue `tokens`: calls Apple about a token when the rule says so, until there is an outcome.
struct TokenWorker: Sendable {
  /// The pause after a 429 without `Retry-After`.
  private static let unsaidHold: Duration = .seconds(1)
  /// The interval at which the worker checks whether Apple has recovered, and whether a test call is needed.
  private static let waitingRetriesCheckInterval: Duration = .seconds(1)
  private static let breakerCheckInterval: Duration = .milliseconds(250)
  /// How long a message waits for Redis before it is retried later.
  private static let storeTime: Duration = .seconds(10)

  let deliveries: DeliveryQueue
  let store: ExchangeStore
  let consent: ConsentCheck
  let installs: InstallStore
  let apple: AdServicesClient
  let gate: AppleCallGate
  let rule: AdServicesRetryRule
  /// The longest `Retry-After` that is honoured; after it, one call tests Apple again.
  let maxRetryAfter: Duration
  let names: CampaignNames
  let filter: ConsentFilter
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
      return .deadLetter(error: "the message is not a token: \(error.field) \(error.reason)")
    }
    do {
      // Before the first attempt nothing is stored.
      let known = lease.attempt > 1 ? try await store.exchange(lease.deliveryID) : nil
      var exchange = known ?? Exchange(id: lease.deliveryID.description, submission: submission)
      return try await proceed(&exchange, submission, lease)
    } catch {
      // There is no limit of attempts, because the token expires.
      return .retry(after: .milliseconds(.random(in: 1000...5000)), error: "the exchange store does not answer")
    }
  }

  private func proceed(
    _ exchange: inout Exchange, _ submission: TokenSubmission, _ lease: LeasedMessage
  ) async throws -> WorkOutcome {
    let now = clock.now(since: submission.receivedAt)
    if now > submission.deadline { return try await finish(&exchange, .expired, nil, lease) }
    if exchange.attempts.isEmpty {
      switch rule.start(createdAt: submission.createdAt, now: now) {
      case .call(let at) where at > now: return .retry(after: clock.real(at - now), error: "not due yet")
      case .call: break
      case .finish(let outcome, _): return try await finish(&exchange, outcome, nil, lease)
      }
    } else if let due = exchange.nextCallAt, due > clock.wall() {
      // A process that died had recorded the last attempt, but not postponed the token.
      return .retry(after: .milliseconds(due - clock.wall()), error: "not due yet")
    }
    guard let permit = gate.begin() else { return .giveBack }
    let left = clock.real(submission.deadline - now)
    let (response, retryAfter) = await ask(submission.token, permit, within: left)
    exchange.attempts.append(.init(at: clock.wall(), result: response.summary))
    let after = clock.now(since: submission.receivedAt)
    let action = rule.next(
      after: response, history: &exchange.history, createdAt: submission.createdAt, now: after,
      retryAfter: retryAfter.map { $0.milliseconds }, chance: .random(in: 0..<1))
    switch action {
    case .finish(let outcome, let record): return try await finish(&exchange, outcome, record, lease)
    case .call(let at):
      let wait = clock.real(at - after)
      if case .tryLater = response {
        // The token waits because of Apple, so its wait ends when Apple has recovered, but not before the time that Apple named.
        exchange.nextCallAt = retryAfter.map { clock.wall() + real($0).milliseconds }
        gate.addWaitingRetry(lease.deliveryID)
      } else {
        exchange.nextCallAt = clock.wall() + wait.milliseconds
      }
      // If this worker was suspended and lost the lease, nothing is written, because another one may have decided the exchange.
      let record = store.record(exchange)
      _ = try await persistently { try await deliveries.keep(record, while: lease) }
      logger.debug(
        "token not exchanged yet",
        metadata: [
          "exchange": "\(exchange.id)", "answer": "\(response.summary)", "attempts": "\(exchange.attempts.count)",
        ])
      return .retry(after: wait, error: response.summary)
    }
  }

  /// Repeats a step while Redis is unavailable, because Apple's answer could only be obtained again by another call.
  private func persistently<Result: Sendable>(_ step: () async throws -> Result) async throws -> Result {
    let end = ContinuousClock.now + Self.storeTime
    while true {
      do { return try await step() } catch {
        guard ContinuousClock.now < end else { throw error }
        try await Task.sleep(for: .milliseconds(.random(in: 50...500)))
      }
    }
  }

  private func ask(
    _ token: AttributionToken, _ permit: SharedCircuitBreaker.Permit, within left: Duration
  ) async -> (AdServicesResponse, Duration?) {
    let started = ContinuousClock.now
    let (response, said) = await apple.ask(token, within: left)
    let retryAfter = said.map { min($0, maxRetryAfter) }
    metrics.called(response, seconds: started.duration(to: .now) / .seconds(1))
    let result: CircuitBreaker.Result =
      switch response {
      // A 429 does not count as a failure, because Apple works and limits the rate.
      case .tryLater(.status(429)): .abandoned
      case .tryLater: .failed
      case .record, .invalidToken, .notFound: .succeeded
      }
    // On recovery, failed tokens rejoin the others by deadline, because they are nearest to their end.
    let waitingRetries = await gate.end(permit, result)
    if !waitingRetries.isEmpty { Task { await makeDue(waitingRetries) } }
    switch response {
    case .tryLater(.status(429)): await gate.hold(for: real(retryAfter ?? Self.unsaidHold))
    case .tryLater(.status) where retryAfter != nil: await gate.hold(for: real(retryAfter ?? .zero))
    default: break
    }
    return (response, retryAfter)
  }

  /// Detects that Apple has recovered even if all tokens have failed and no new one arrives. Runs until its task is cancelled.
  func releaseWaitingRetries() async {
    var checkedAt = ContinuousClock.now
    while !Task.isCancelled {
      do { try await Task.sleep(for: gate.phase == .closed ? Self.waitingRetriesCheckInterval : Self.breakerCheckInterval) } catch {
        return
      }
      let waitingRetries = await gate.refresh()
      if !waitingRetries.isEmpty { await makeDue(waitingRetries) }
      guard checkedAt.duration(to: .now) >= Self.waitingRetriesCheckInterval else { continue }
      checkedAt = .now
      var next = gate.tokenForTestCall()
      // A token that was processed meanwhile cannot be used for a test call, so the next one is tried.
      while let id = next, (try? await deliveries.expedite(id, in: .tokens)) == false { next = gate.nextTokenForTestCall() }
    }
  }

  private func makeDue(_ ids: [DeliveryID]) async {
    var left = ids
    // Tokens that were just being postponed are not found at first, so they are tried again after a pause.
    for pause: Duration in [.zero, .seconds(2)] where !left.isEmpty {
      try? await Task.sleep(for: pause)
      var missed: [DeliveryID] = []
      for start in stride(from: 0, to: left.count, by: 64) {
        missed += await withTaskGroup(of: DeliveryID?.self) { group in
          for id in left[start..<min(start + 64, left.count)] {
            group.addTask { (try? await deliveries.expedite(id, in: .tokens)) == true ? nil : id }
          }
          return await group.reduce(into: []) { found, id in if let id { found.append(id) } }
        }
      }
      left = missed
    }
  }

  private func real(_ time: Duration) -> Duration { clock.real(time.milliseconds) }

  /// Stores the outcome in the same step that publishes the event.
  private func finish(
    _ exchange: inout Exchange, _ outcome: AdServicesOutcome, _ record: AppleAttribution.AttributionRecord?,
    _ lease: LeasedMessage
  ) async throws -> WorkOutcome {
    exchange.outcome = outcome
    exchange.record = record
    exchange.finishedAt = clock.wall()
    exchange.nextCallAt = nil
    exchange.tokenAge = max(0, clock.now(since: exchange.receivedAt) - exchange.createdAt)
    if let installId = exchange.installId, let detail = InstallAttribution.Detail(outcome, record: record) {
      let attribution = InstallAttribution(eventId: exchange.eventId, detail: detail, createdAt: exchange.createdAt)
      let bundleId = exchange.bundleId
      let joined = try await persistently { try await installs.join(attribution, bundleId: bundleId, installId: installId) }
      switch joined {
      case .applied(let attribution), .alreadyApplied(let attribution): exchange.supersedes = attribution.supersedes
      case .superseded(let event): exchange.supersededBy = event
      }
    }
    // The last step before the event, so that a withdrawal that came while the token waited counts.
    let decided = exchange
    exchange = try await persistently { try await consent.checked(decided) }
    guard let event = exchange.event(names: names, filter: filter, traceparent: lease.traceparent) else {
      return .deadLetter(error: "the exchange has no outcome")
    }
    metrics.ended(exchange)
    logger.debug(
      "token exchanged",
      metadata: [
        "exchange": "\(exchange.id)", "outcome": "\(outcome.rawValue)", "attempts": "\(exchange.attempts.count)",
        "attMismatch": "\(exchange.isATTMismatch)",
      ])
    var completion = Completion(
      state: outcome.isResolved ? .done : .rejected, naturalKey: nil,
      events: [
        EventRecord(id: event.id, type: event.type, json: event.json, attributes: EventAttributes(bundleId: exchange.bundleId))
      ],
      reason: outcome.isResolved ? nil : outcome.rawValue)
    completion.ownRecord = store.record(exchange)
    // The dead letter does not contain the token, because Apple will never accept it.
    if outcome == .invalidToken { completion.deadLetter = "Apple does not know this token (400)" }
    return .complete(completion)
  }
}

extension AdServicesResponse {
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
