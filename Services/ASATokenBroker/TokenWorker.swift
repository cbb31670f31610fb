import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Logging
import ServiceRuntime
import UpstreamPacing
import WireJSON

/// Handles the messages of the queue `tokens`: calls Apple about a token at the times of ``AdServicesRetryRule``, until the exchange has an
/// outcome.
///
/// `DeadlineWorker` calls ``handle(_:)`` for the token that expires first, when ``AppleCallGate`` admits a call. After each call the
/// ``Exchange`` is stored; when it has an outcome, it is stored and published as an event in one step. What a later submission of the token
/// adds (``TokenSubmission/additionKind``) waits for the outcome, and is published if the outcome's event does not have it. Tokens whose
/// calls failed because of Apple are remembered by the gate, and ``releaseWaitingRetries()`` makes them due when Apple has recovered.
struct TokenWorker: Sendable {
  /// The pause of all calls after a 429 without `Retry-After`.
  private static let defaultHold: Duration = .seconds(1)
  /// The interval at which the worker checks whether Apple has recovered, and whether a test call is needed.
  private static let waitingRetriesCheckInterval: Duration = .seconds(1)
  /// The shorter interval while the circuit breaker is not closed.
  private static let breakerCheckInterval: Duration = .milliseconds(250)
  /// How long a step is repeated while Redis is unavailable, before the message is retried later.
  private static let storeTimeout: Duration = .seconds(10)
  /// The shortest and the longest wait of an addition for the outcome of its exchange, milliseconds. It waits as long again as it has waited.
  private static let additionWait: ClosedRange<Int64> = 500...300_000

  let deliveries: DeliveryQueue
  let store: ExchangeStore
  let consent: ConsentCheck
  let installs: InstallStore
  let apple: AdServicesClient
  let gate: AppleCallGate
  let rule: AdServicesRetryRule
  /// The longest `Retry-After` that is honoured. A longer one is shortened to this.
  let maxRetryAfter: Duration
  /// The deployment's names for the ids of Apple Ads, which events contain.
  let names: CampaignNames
  let filter: ConsentFilter
  let clock: ScaledClock
  let metrics: BrokerMetrics
  let logger: Logger

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    do {
      return lease.message.kind == TokenSubmission.additionKind ? try await add(lease) : try await exchange(lease)
    } catch {
      // The number of attempts is not limited, because the token expires anyway.
      return .retry(after: .milliseconds(.random(in: 1000...5000)), error: "the exchange store does not answer")
    }
  }

  private func exchange(_ lease: LeasedMessage) async throws -> WorkOutcome {
    let submission: TokenSubmission
    do {
      submission = try TokenSubmission(
        token: String(decoding: lease.message.body, as: UTF8.self), attributes: lease.message.attributes,
        receivedAt: lease.message.receivedAt)
    } catch {
      return .deadLetter(error: "the message is not a token: \(error.field) \(error.reason)")
    }
    var exchange = try await store.exchange(lease.deliveryID) ?? Exchange(id: lease.deliveryID.description, submission: submission)
    if let outcome = exchange.outcome {
      // The token was posted again after this outcome.
      guard exchange.mayBeAskedAgain, clock.now(since: submission.receivedAt) <= exchange.claims.deadline else {
        return try await publish(submission.claims, addedTo: &exchange, lease, state: outcome.isResolved ? .done : .rejected)
      }
      exchange.join(submission.claims)
      exchange.beginRound()
    }
    return try await proceed(&exchange, submission, lease)
  }

  /// Handles what a later submission of a token says.
  private func add(_ lease: LeasedMessage) async throws -> WorkOutcome {
    let attributes = lease.message.attributes
    guard let id = attributes[TokenSubmission.exchangeAttribute].flatMap({ DeliveryID($0) }),
      let claims = TokenClaims(attributes: attributes)
    else { return .deadLetter(error: "the message is not an addition to a token") }
    // Stored first: either the worker of the token finds it when it decides, or the token is decided below.
    try await store.add(claims, to: id, receivedAt: lease.message.receivedAt)
    guard try await deliveries.delivery(id)?.state != .accepted else {
      let waited = clock.wall() - lease.message.receivedAt
      return .wait(.milliseconds(min(max(waited, Self.additionWait.lowerBound), Self.additionWait.upperBound)))
    }
    guard var exchange = try await store.exchange(id), exchange.outcome != nil else {
      return .complete(Completion(state: .done, events: [], reason: "the outcome is no longer stored"))
    }
    return try await publish(claims, addedTo: &exchange, lease, state: .done)
  }

  /// Publishes a decided exchange again if a later submission has added something to it.
  private func publish(_ claims: TokenClaims, addedTo exchange: inout Exchange, _ lease: LeasedMessage, state: DeliveryState) async throws
    -> WorkOutcome
  {
    // All of them, because another worker may publish another addition now: whoever is last has the strictest status.
    var isNew = exchange.join(claims)
    if let id = DeliveryID(exchange.id) {
      for claims in try await persistently({ try await store.additions(to: id) }) where exchange.join(claims) { isNew = true }
    }
    guard isNew else { return .complete(Completion(state: state, events: [])) }
    guard
      let completion = try await completion(
        &exchange, eventId: "\(exchange.eventId)-\(lease.deliveryID)", lease, state: state)
    else { return .deadLetter(error: "the exchange has no outcome") }
    return .complete(completion)
  }

  /// Decides what is due for the exchange, and calls Apple if that is a call.
  private func proceed(
    _ exchange: inout Exchange, _ submission: TokenSubmission, _ lease: LeasedMessage
  ) async throws -> WorkOutcome {
    let now = clock.now(since: submission.receivedAt)
    if now > exchange.claims.deadline { return try await finish(&exchange, .expired, nil, lease) }
    if exchange.attempts.isEmpty {
      switch rule.start(createdAt: exchange.claims.createdAt, now: now) {
      case .call(let at) where at > now: return .retry(after: clock.real(at - now), error: "not due yet")
      case .call: break
      case .finish(let outcome, _): return try await finish(&exchange, outcome, nil, lease)
      }
    } else if let due = exchange.nextCallAt, due > clock.wall() {
      // The last attempt was stored, but its process died before the token was postponed.
      return .retry(after: .milliseconds(due - clock.wall()), error: "not due yet")
    }
    guard let permit = gate.begin() else { return .giveBack }
    let remaining = clock.real(exchange.claims.deadline - now)
    let (response, retryAfter) = await callApple(submission.token, permit, within: remaining)
    exchange.attempts.append(.init(at: clock.wall(), result: response.summary))
    let after = clock.now(since: submission.receivedAt)
    let action = rule.next(
      after: response, history: &exchange.history, createdAt: exchange.claims.createdAt, now: after,
      retryAfter: retryAfter.map { $0.milliseconds }, chance: .random(in: 0..<1))
    switch action {
    case .finish(let outcome, let record): return try await finish(&exchange, outcome, record, lease)
    case .call(let at):
      let wait = clock.real(at - after)
      if case .tryLater = response {
        // The token waits because of a failure of Apple, so it is retried as soon as Apple has recovered, but not before `Retry-After`.
        exchange.nextCallAt = retryAfter.map { clock.wall() + real($0).milliseconds }
        gate.addWaitingRetry(lease.deliveryID)
      } else {
        exchange.nextCallAt = clock.wall() + wait.milliseconds
      }
      // If this worker has lost the lease, nothing is written, because another worker may have decided the exchange.
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

  /// Repeats a step while Redis is unavailable, because without it Apple's answer is lost and Apple must be called again.
  private func persistently<Result: Sendable>(_ step: () async throws -> Result) async throws -> Result {
    let end = ContinuousClock.now + Self.storeTimeout
    while true {
      do { return try await step() } catch {
        guard ContinuousClock.now < end else { throw error }
        try await Task.sleep(for: .milliseconds(.random(in: 50...500)))
      }
    }
  }

  /// Makes one call and reports its result to the gate. Returns also `Retry-After`, limited to ``maxRetryAfter``.
  private func callApple(
    _ token: AttributionToken, _ permit: SharedCircuitBreaker.Permit, within remaining: Duration
  ) async -> (AdServicesResponse, Duration?) {
    let started = ContinuousClock.now
    let (response, unlimitedRetryAfter) = await apple.attribution(of: token, within: remaining)
    let retryAfter = unlimitedRetryAfter.map { min($0, maxRetryAfter) }
    metrics.called(response, seconds: started.duration(to: .now) / .seconds(1))
    if case .record(let record) = response { metrics.leftOut(record.unusable) }
    let result: CircuitBreaker.Result =
      switch response {
      // A 429 does not count as a failure, because it shows that Apple works and only limits the rate.
      case .tryLater(.status(429)): .abandoned
      // An answer of 200 is no failure of Apple, whatever its body is.
      case .tryLater(.malformed): .abandoned
      case .tryLater: .failed
      case .record, .invalidToken, .notFound: .succeeded
      }
    // When Apple has recovered, the tokens that wait for a retry become due, because they are the nearest to their expiry.
    let waitingRetries = await gate.end(permit, result)
    if !waitingRetries.isEmpty { Task { await makeDue(waitingRetries) } }
    switch response {
    case .tryLater(.status(429)): await gate.hold(for: real(retryAfter ?? Self.defaultHold))
    case .tryLater(.status) where retryAfter != nil: await gate.hold(for: real(retryAfter ?? .zero))
    default: break
    }
    return (response, retryAfter)
  }

  /// Makes tokens due when Apple has recovered. It finds that out even if all tokens have failed and no new one arrives: it then makes one
  /// token due early, for a test call. Runs until its task is cancelled.
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
      // A token that is not delayed any more cannot be used for a test call, so the next one is tried.
      while let id = next, (try? await deliveries.expedite(id, in: .tokens)) == false { next = gate.nextTokenForTestCall() }
    }
  }

  /// Makes delayed tokens due now, 64 at a time.
  private func makeDue(_ ids: [DeliveryID]) async {
    var remaining = ids
    // A token that is just being postponed is not found among the delayed ones, so it is tried again after a pause.
    for pause: Duration in [.zero, .seconds(2)] where !remaining.isEmpty {
      try? await Task.sleep(for: pause)
      var missed: [DeliveryID] = []
      for start in stride(from: 0, to: remaining.count, by: 64) {
        missed += await withTaskGroup(of: DeliveryID?.self) { group in
          for id in remaining[start..<min(start + 64, remaining.count)] {
            group.addTask { (try? await deliveries.expedite(id, in: .tokens)) == true ? nil : id }
          }
          return await group.reduce(into: []) { found, id in if let id { found.append(id) } }
        }
      }
      remaining = missed
    }
  }

  private func real(_ time: Duration) -> Duration { clock.real(time.milliseconds) }

  /// Ends the exchange's round: the commit of the message stores it and publishes its event in one step.
  private func finish(
    _ exchange: inout Exchange, _ outcome: AdServicesOutcome, _ record: AppleAttribution.AttributionRecord?,
    _ lease: LeasedMessage
  ) async throws -> WorkOutcome {
    for claims in try await persistently({ try await store.additions(to: lease.deliveryID) }) { exchange.join(claims) }
    exchange.outcome = outcome
    exchange.record = record
    exchange.finishedAt = clock.wall()
    exchange.nextCallAt = nil
    exchange.tokenAge = max(0, clock.now(since: exchange.receivedAt) - exchange.claims.createdAt)
    let state: DeliveryState = outcome.isResolved ? .done : .rejected
    guard var completion = try await completion(&exchange, eventId: exchange.eventId, lease, state: state) else {
      return .deadLetter(error: "the exchange has no outcome")
    }
    metrics.ended(exchange)
    logger.debug(
      "token exchanged",
      metadata: [
        "exchange": "\(exchange.id)", "outcome": "\(outcome.rawValue)", "attempts": "\(exchange.attempts.count)",
        "attMismatch": "\(exchange.isATTMismatch)",
      ])
    completion.reason = outcome.isResolved ? nil : outcome.rawValue
    // If the token is posted again while it lives, another round begins.
    completion.mayBeAcceptedAgain = exchange.mayBeAskedAgain && clock.now(since: lease.message.receivedAt) < exchange.claims.deadline
    // Apple will never accept this token, so the dead letter does not contain it.
    if outcome == .invalidToken { completion.deadLetter = "Apple does not know this token (400)" }
    return .complete(completion)
  }

  /// The completion of a message that stores a decided exchange and publishes it; nil if it is undecided.
  private func completion(_ exchange: inout Exchange, eventId: String, _ lease: LeasedMessage, state: DeliveryState) async throws
    -> Completion?
  {
    guard let outcome = exchange.outcome else { return nil }
    exchange.willPublish(eventId)
    let bundleId = exchange.claims.bundleId
    if let installId = exchange.claims.installId, let detail = InstallAttribution.Detail(outcome, record: exchange.record) {
      let attribution = InstallAttribution(eventId: eventId, detail: detail, createdAt: exchange.claims.createdAt)
      let joined = try await persistently { try await installs.join(attribution, bundleId: bundleId, installId: installId) }
      switch joined {
      case .applied(let attribution), .alreadyApplied(let attribution):
        exchange.supersedes = attribution.supersedes ?? exchange.supersedes
      case .superseded(let event):
        if event != exchange.supersedes { exchange.supersededBy = event }
      }
    }
    // Consent is checked last, so that a withdrawal counts that came while the token waited.
    let decided = exchange
    exchange = try await persistently { try await consent.checked(decided) }
    guard let event = exchange.event(names: names, filter: filter, traceparent: lease.traceparent) else { return nil }
    var completion = Completion(
      state: state, naturalKey: nil,
      events: [EventRecord(id: event.id, type: event.type, json: event.json, attributes: EventAttributes(bundleId: bundleId))])
    completion.ownRecord = store.record(exchange)
    return completion
  }
}

extension AdServicesResponse {
  /// The result for lists of attempts and logs. It never contains the body.
  fileprivate var summary: String {
    switch self {
    case .record: "200"
    case .invalidToken: "400"
    case .notFound: "404"
    case .tryLater(let trouble): trouble.description
    }
  }
}
