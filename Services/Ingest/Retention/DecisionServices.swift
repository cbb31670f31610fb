import AppStore
import AttributionClient
import AttributionProtocol
import Logging
import ServiceRuntime
import Synchronization
import UpstreamPacing

/// Calls users' decision services (`attribution.retention.v1.RetentionDecisionService`). A service whose calls mostly fail is not called
/// for a while.
final class DecisionServices: Sendable {
  /// A service's decision.
  enum Decision: Sendable {
    case answer(RetentionProposal)
    case defaultMessage
    /// The configured rules decide.
    case rules
    /// The call failed, or the service was not called.
    case nothing
  }

  private final class Entry: Sendable {
    let client: RPCClient
    let breaker: Mutex<CircuitBreaker>

    init(_ client: RPCClient, _ rule: CircuitBreaker.Rule) {
      self.client = client
      breaker = Mutex(CircuitBreaker(rule))
    }
  }

  private static let rule = CircuitBreaker.Rule(
    window: 10_000, minCalls: 10, failureShare: 0.5, firstPause: 1000, maxPause: 10_000, probePatience: 5000)

  private let entries = Mutex<[RetentionPlan.DecisionService: Entry]>([:])
  private let connect: @Sendable (RetentionPlan.DecisionService) -> RPCClient
  private let logger: Logger

  init(logger: Logger, connect: @escaping @Sendable (RetentionPlan.DecisionService) -> RPCClient) {
    self.logger = logger
    self.connect = connect
  }

  func decision(
    of service: RetentionPlan.DecisionService, _ question: RealtimeRequest, bundleId: String, facts: RetentionFacts?,
    list: RetentionMessageList?, within time: Duration, _ request: PublicHTTPRequest
  ) async -> Decision {
    let entry = entry(service)
    guard time > .zero, case .call(let permit) = entry.breaker.withLock({ $0.admit(now: WallClock.now()) }) else { return .nothing }
    func record(_ result: CircuitBreaker.Result) {
      entry.breaker.withLock { $0.record(permit, result, now: WallClock.now(), chance: Double.random(in: 0..<1)) }
    }
    let response: DecideRetentionResponse
    do throws(RPCError) {
      response = try await entry.client.call(
        RetentionDecisionService.DecideRetention.self, Self.message(question, bundleId, facts, list),
        timeout: min(service.timeout, time), traceparent: request.traceparent, requestId: request.requestId)
    } catch {
      record(.failed)
      logger.info(
        "a decision service did not decide",
        metadata: ["app": "\(bundleId)", "reason": "\(error.code.rawValue)", "requestId": "\(request.requestId)"])
      return .nothing
    }
    record(.succeeded)
    do throws(RequestRefusal) { return try Self.decision(response) } catch {
      logger.warning(
        "a decision service's answer cannot be used",
        metadata: ["app": "\(bundleId)", "reason": "\(error)", "requestId": "\(request.requestId)"])
      return .nothing
    }
  }

  private func entry(_ service: RetentionPlan.DecisionService) -> Entry {
    entries.withLock { entries in
      if let known = entries[service] { return known }
      let made = Entry(connect(service), Self.rule)
      entries[service] = made
      return made
    }
  }

  private static func message(
    _ question: RealtimeRequest, _ bundleId: String, _ facts: RetentionFacts?, _ list: RetentionMessageList?
  ) -> DecideRetentionRequest {
    DecideRetentionRequest(
      bundleId: bundleId, appAppleId: question.appAppleId, environment: question.environment,
      requestIdentifier: question.requestIdentifier, originalTransactionId: question.originalTransactionId,
      productId: question.productId, userLocale: question.userLocale,
      signedDate: Timestamp(millisecondsSince1970: question.signedDate),
      subscription: facts.map { facts in
        RetentionSubscription(
          state: facts.status.rawValue, productId: facts.productId, subscriptionGroupIdentifier: facts.subscriptionGroupId,
          storefront: facts.storefront, priceMilliunits: facts.priceMilliunits, currency: facts.currency, autoRenew: facts.autoRenew,
          originalPurchaseDate: facts.originalPurchaseDate.map { Timestamp(millisecondsSince1970: $0) },
          expiresDate: facts.expiresDate.map { Timestamp(millisecondsSince1970: $0) })
      }, approvedMessageIdentifiers: list?.approved.sorted() ?? [],
      messageIdentifiersWithImage: list?.withImage.sorted() ?? [])
  }

  private static func decision(_ response: DecideRetentionResponse) throws(RequestRefusal) -> Decision {
    if let message = response.message { return .answer(try RetentionProposal(messageIdentifier: message.messageIdentifier, .message)) }
    if let product = response.alternateProduct {
      return .answer(
        try RetentionProposal(
          messageIdentifier: product.messageIdentifier,
          .alternateProduct(productId: product.productId ?? "", billingPlanType: product.billingPlanType)))
    }
    if let offer = response.promotionalOffer {
      return .answer(
        try RetentionProposal(
          messageIdentifier: offer.messageIdentifier,
          .promotionalOffer(
            try RetentionProposal.Offer(
              offerIdentifier: offer.offerIdentifier, productId: offer.productId, version: offer.signatureVersion,
              appAccountToken: offer.appAccountToken))))
    }
    if let request = response.advancedCommerce {
      return .answer(
        try RetentionProposal(messageIdentifier: request.messageIdentifier, .advancedCommerce(request: request.requestText ?? "")))
    }
    if response.rules == true { return .rules }
    if response.defaultMessage == true { return .defaultMessage }
    throw RequestRefusal(field: "answer", "holds none of its kinds")
  }
}
