import AppStore
import EventLoops
import Logging
import ServiceRuntime
import Synchronization
import Traces

/// Decides the answer to a verified request within `retention.budget`, the time for which the App Store waits at most.
///
/// The decision service decides, if one is configured; otherwise, or if it fails, the rules of the ``RetentionPlan`` do. The decision is
/// stored by ``RetentionRecords``, whose answer is sent. Each call to another service has its own timeout, because any of them may hang.
///
/// If storing takes longer than `retention.storeTimeout`, the answer is sent before it is stored. It differs from the stored one if another
/// instance has stored an answer to the same request. If no decision is made in time, the answer ``RetentionDecision/late`` is sent, stored
/// and published.
struct RetentionResponder: Sendable {
  /// The part of the budget that is reserved for sending the answer.
  private static let sendReserve: Duration = .milliseconds(20)
  /// The part of the budget that remains after the last call has timed out, for the next answer of the rule. It is two intervals of the
  /// timers of an event loop, because timers may fire one interval late.
  private static let fallbackReserve = LoopDeadlines.minInterval * 2
  private static let late = StoredAnswer(.late)

  let messages: ApprovedMessages
  let history: SubscriptionHistoryReader
  let services: DecisionServices
  let signer: RetentionSigner
  let records: RetentionRecords
  let metrics: RetentionMetrics
  let logger: Logger

  /// - Parameters:
  ///   - signedPayload: the request as the App Store signed it, for the event.
  ///   - end: the end of the budget.
  func answer(
    _ realtimeRequest: RealtimeRequest, signedPayload: String, _ active: LiveRetention.ActivePlan, _ request: PublicHTTPRequest,
    until end: ContinuousClock.Instant
  ) async -> StoredAnswer {
    let startedAt = ContinuousClock.now
    if let earlier = records.recent(realtimeRequest) {
      metrics.replayed()
      metrics.answered(earlier, environment: realtimeRequest.environment, after: startedAt.duration(to: .now))
      return earlier
    }
    let deadline = end - Self.sendReserve
    let span = Span.current?.child("decide retention message", .internal, [])
    let sent = await DeadlineAnswer.wait(until: deadline, otherwise: Self.late) { answer in
      let decision = await Span.$current.withValue(span ?? Span.current) {
        await decide(realtimeRequest, active, request, until: deadline - Self.fallbackReserve)
      }
      let decided = StoredAnswer(decision)
      // A decision after the deadline is dropped: the answer `late` was sent, so this is also stored and published.
      let isInTime = answer.setBest(decided)
      let effective = isInTime ? decision : .late
      for cause in effective.causes { metrics.fellBack(cause) }
      log(effective, realtimeRequest, active, request)
      answer.replaceDeadline(with: min(deadline, .now + active.settings.storeTimeout))
      let counted = await records.record(
        isInTime ? decided : Self.late, realtimeRequest, signedPayload: signedPayload, bundleId: active.plan.app.bundleId, request)
      answer.finish(counted)
    }
    records.answered(sent, realtimeRequest)
    span?.end(SpanAttribute("attribution.retention.answer", sent.kind))
    metrics.answered(sent, environment: realtimeRequest.environment, after: startedAt.duration(to: .now))
    return sent
  }

  /// Decides the answer; the calls to other services end before the deadline.
  private func decide(
    _ realtimeRequest: RealtimeRequest, _ active: LiveRetention.ActivePlan, _ request: PublicHTTPRequest,
    until deadline: ContinuousClock.Instant
  ) async -> RetentionDecision {
    let plan = active.plan
    let settings = active.settings
    let bundleId = plan.app.bundleId
    func remaining(_ limit: Duration) -> Duration { min(limit, ContinuousClock.now.duration(to: deadline)) }
    var decision = RetentionDecision()
    decision.experiments = plan.rules.experiments(of: realtimeRequest)
    let list = messages.list(RetentionAudience(bundleId: bundleId, environment: realtimeRequest.environment))
    let isShown = { (id: String, content: RetentionProposal.Content) in
      list?.shows(id, in: content) ?? (settings.unknownMessages == .trust)
    }

    var match = plan.rules.match(realtimeRequest, nil, at: realtimeRequest.signedDate)
    var facts: RetentionFacts?
    // The history is requested only if the decision depends on it.
    if !match.undecided.isEmpty || plan.decisionService != nil {
      switch await history.facts(realtimeRequest, within: remaining(settings.historyTimeout), request) {
      case .known(let found):
        facts = found
        decision.state = found.status.rawValue
        match = plan.rules.match(realtimeRequest, found, at: realtimeRequest.signedDate)
      case .unknown: break
      case .unavailable:
        if !match.undecided.isEmpty { decision.add(.history) }
      }
    }

    if let service = plan.decisionService {
      let decided = await services.decision(
        of: service, realtimeRequest, bundleId: bundleId, facts: facts, list: list, within: remaining(service.timeout), request)
      switch decided {
      case .rules: break
      case .failed: decision.add(.service)
      case .defaultMessage:
        decision.source = .service
        return decision
      case .answer(let proposal):
        if !isShown(proposal.messageIdentifier, proposal.content) {
          decision.add(.unapproved)
          decision.unapproved.append(proposal.messageIdentifier)
        } else if await apply(proposal, to: &decision, realtimeRequest, bundleId, within: remaining(settings.signerTimeout), request) {
          decision.source = .service
          return decision
        }
      }
    }

    decision.undecided = match.undecided
    guard let rule = match.rule else { return decision }
    decision.rule = rule.name
    let (usable, unapproved) = rule.proposals(for: realtimeRequest, isShown: isShown)
    if !unapproved.isEmpty { decision.add(.unapproved) }
    decision.unapproved += unapproved.filter { !decision.unapproved.contains($0) }
    for proposal in usable {
      // After one failed call to signer, further offers are not signed, because the time is short.
      if proposal.needsSignature, decision.causes.contains(.signer) { continue }
      if await apply(proposal, to: &decision, realtimeRequest, bundleId, within: remaining(settings.signerTimeout), request) {
        return decision
      }
    }
    return decision
  }

  /// Makes a proposal the answer of the decision, and has it signed if necessary. Returns false, and changes no answer, if it was not
  /// signed in time.
  private func apply(
    _ proposal: RetentionProposal, to decision: inout RetentionDecision, _ realtimeRequest: RealtimeRequest, _ bundleId: String,
    within time: Duration, _ request: PublicHTTPRequest
  ) async -> Bool {
    if let answer = proposal.unsigned {
      decision.answer = answer
      if case .alternateProduct(_, let product, _) = answer { decision.productId = product }
      return true
    }
    do {
      let signed = try await signer.sign(proposal, realtimeRequest, bundleId: bundleId, within: time, request)
      decision.answer = signed.answer
      decision.keyId = signed.keyId
      decision.productId = signed.productId
      decision.offerIdentifier = signed.offerIdentifier
      return true
    } catch {
      decision.add(.signer)
      logger.info(
        "a retention offer was not signed",
        metadata: [
          "app": "\(bundleId)", "reason": "\(error)", "requestId": "\(request.requestId)",
        ])
      return false
    }
  }

  /// Logs an answer that is a fallback, with the causes.
  private func log(
    _ decision: RetentionDecision, _ realtimeRequest: RealtimeRequest, _ active: LiveRetention.ActivePlan, _ request: PublicHTTPRequest
  ) {
    guard !decision.causes.isEmpty else { return }
    logger.info(
      "a retention answer is a fallback",
      metadata: [
        "app": "\(active.plan.app.bundleId)", "environment": "\(realtimeRequest.environment)", "outcome": "\(decision.answer.kind)",
        "reason": "\(decision.causes.map(\.rawValue).joined(separator: ","))", "requestId": "\(request.requestId)",
      ])
  }
}
