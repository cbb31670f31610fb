import AppStore
import EventLoops
import Logging
import ServiceRuntime
import Synchronization
import Traces

/// Decides the answer to a request within the budget.
///
/// Each call to another service has its own timeout, because any of them may hang. When the budget is used up, the best answer so far is
/// sent. The answer that is sent is also the one that is stored and recorded.
struct RetentionResponder: Sendable {
  /// The part of the budget that is reserved for sending the answer.
  private static let reserve: Duration = .milliseconds(20)
  /// The part of the budget that is left for the next answer of a rule after a call has timed out. Timers are exact to
  /// ``LoopDeadlines/interval``.
  private static let fallbackReserve = LoopDeadlines.interval * 2
  private static let late = KeptAnswer(.late)

  let messages: ApprovedMessages
  let history: SubscriptionHistoryReader
  let services: DecisionServices
  let signer: RetentionSigner
  let records: RetentionRecords
  let metrics: RetentionMetrics
  let logger: Logger

  func answer(
    _ question: RealtimeRequest, signedPayload: String, _ active: LiveRetention.ActivePlan, _ request: PublicHTTPRequest,
    until end: ContinuousClock.Instant
  ) async -> KeptAnswer {
    let begun = ContinuousClock.now
    if let known = records.recent(question) {
      metrics.replayed()
      metrics.answered(known, environment: question.environment, after: begun.duration(to: .now))
      return known
    }
    let deadline = end - Self.reserve
    let span = Span.current?.child("decide retention message", .internal, [])
    let kept = await DeadlineAnswer.wait(until: deadline, otherwise: Self.late) { due in
      let decision = await Span.$current.withValue(span ?? Span.current) {
        await decide(question, active, request, until: deadline - Self.fallbackReserve)
      }
      let made = KeptAnswer(decision)
      let isInTime = due.hold(made)
      let told = isInTime ? decision : .late
      for cause in told.causes { metrics.fellBack(cause) }
      log(told, question, active, request)
      due.replaceDeadline(with: min(deadline, .now + active.settings.storeTimeout))
      let counted = await records.record(
        isInTime ? made : Self.late, question, signedPayload: signedPayload, bundleId: active.plan.app.bundleId, request)
      due.give(counted)
    }
    records.answered(kept, question)
    span?.end(SpanAttribute("attribution.retention.answer", kept.kind))
    metrics.answered(kept, environment: question.environment, after: begun.duration(to: .now))
    return kept
  }

  private func decide(
    _ question: RealtimeRequest, _ active: LiveRetention.ActivePlan, _ request: PublicHTTPRequest, until deadline: ContinuousClock.Instant
  ) async -> RetentionDecision {
    let plan = active.plan
    let settings = active.settings
    let bundleId = plan.app.bundleId
    func left(_ limit: Duration) -> Duration { min(limit, ContinuousClock.now.duration(to: deadline)) }
    var decision = RetentionDecision()
    decision.experiments = plan.rules.experiments(of: question)
    let list = messages.list(RetentionAudience(bundleId: bundleId, environment: question.environment))
    let isShown = { (id: String, content: RetentionProposal.Content) in
      list?.shows(id, in: content) ?? (settings.unknownMessages == .trust)
    }

    var match = plan.rules.match(question, nil, at: question.signedDate)
    var facts: RetentionFacts?
    // The history is requested only if the decision depends on it.
    if !match.undecided.isEmpty || plan.decisionService != nil {
      switch await history.facts(question, within: left(settings.historyTimeout), request) {
      case .known(let found):
        facts = found
        decision.state = found.status.rawValue
        match = plan.rules.match(question, found, at: question.signedDate)
      case .none: break
      case .away:
        if !match.undecided.isEmpty { decision.note(.history) }
      }
    }

    if let service = plan.decisionService {
      let decided = await services.decision(
        of: service, question, bundleId: bundleId, facts: facts, list: list, within: left(service.timeout), request)
      switch decided {
      case .rules: break
      case .nothing: decision.note(.service)
      case .defaultMessage:
        decision.source = .service
        return decision
      case .answer(let proposal):
        if !isShown(proposal.messageIdentifier, proposal.content) {
          decision.note(.unapproved)
          decision.unapproved.append(proposal.messageIdentifier)
        } else if await take(proposal, into: &decision, question, bundleId, within: left(settings.signerTimeout), request) {
          decision.source = .service
          return decision
        }
      }
    }

    decision.undecided = match.undecided
    guard let rule = match.rule else { return decision }
    decision.rule = rule.name
    let (usable, unapproved) = rule.proposals(for: question, isShown: isShown)
    if !unapproved.isEmpty { decision.note(.unapproved) }
    decision.unapproved += unapproved.filter { !decision.unapproved.contains($0) }
    for proposal in usable {
      // After one failed call to signer, offers that need a signature are skipped, because time is short.
      if proposal.needsSignature, decision.causes.contains(.signer) { continue }
      if await take(proposal, into: &decision, question, bundleId, within: left(settings.signerTimeout), request) { return decision }
    }
    return decision
  }

  /// Makes a proposal the answer. False if it cannot be signed.
  private func take(
    _ proposal: RetentionProposal, into decision: inout RetentionDecision, _ question: RealtimeRequest, _ bundleId: String,
    within time: Duration, _ request: PublicHTTPRequest
  ) async -> Bool {
    if let answer = proposal.unsigned {
      decision.answer = answer
      if case .alternateProduct(_, let product, _) = answer { decision.productId = product }
      return true
    }
    do {
      let signed = try await signer.sign(proposal, question, bundleId: bundleId, within: time, request)
      decision.answer = signed.answer
      decision.keyId = signed.keyId
      decision.productId = signed.productId
      decision.offerIdentifier = signed.offerIdentifier
      return true
    } catch {
      decision.note(.signer)
      logger.info(
        "a retention offer was not signed",
        metadata: [
          "app": "\(bundleId)", "reason": "\(error)", "requestId": "\(request.requestId)",
        ])
      return false
    }
  }

  private func log(
    _ decision: RetentionDecision, _ question: RealtimeRequest, _ active: LiveRetention.ActivePlan, _ request: PublicHTTPRequest
  ) {
    guard !decision.causes.isEmpty else { return }
    logger.info(
      "a retention answer is a fallback",
      metadata: [
        "app": "\(active.plan.app.bundleId)", "environment": "\(question.environment)", "outcome": "\(decision.answer.kind)",
        "reason": "\(decision.causes.map(\.rawValue).joined(separator: ","))", "requestId": "\(request.requestId)",
      ])
  }
}
