import AppStore
import AttributionClient
import AttributionProtocol
import Logging
import ServiceRuntime
import Synchronization
import UpstreamPacing

/// Calls the decision services of users (`attribution.retention.v1.RetentionDecisionService`). Each service has a circuit breaker: if at
/// least half of its calls fail, it is not called for a while.
final class DecisionServices: Sendable {
  /// The decision of a service.
  enum Decision: Sendable {
    case answer(RetentionProposal)
    /// The App Store shows its default message.
    case defaultMessage
    /// The service leaves the decision to the configured rules.
    case rules
    /// The call failed or its response cannot be used, or the service was not called.
    case failed
  }

  /// A service's client and circuit breaker.
  private final class Entry: Sendable {
    let client: RPCClient
    let breaker: Mutex<CircuitBreaker>

    init(_ client: RPCClient, _ rule: CircuitBreaker.Rule) {
      self.client = client
      breaker = Mutex(CircuitBreaker(rule))
    }
  }

  private static let rule = CircuitBreaker.Rule(
    window: 10_000, minCalls: 10, failureShare: 0.5, firstPause: 1000, maxPause: 10_000, probeTimeout: 5000)

  private let entries = Mutex<[RetentionPlan.DecisionService: Entry]>([:])
  private let connect: @Sendable (RetentionPlan.DecisionService) -> RPCClient
  private let logger: Logger

  init(logger: Logger, connect: @escaping @Sendable (RetentionPlan.DecisionService) -> RPCClient) {
    self.logger = logger
    self.connect = connect
  }

  /// - Parameters:
  ///   - facts: what is known about the subscription; nil if nothing is.
  ///   - list: the approved messages; nil if they are not known.
  ///   - time: the greatest time of the call, beside the service's own timeout.
  func decision(
    of service: RetentionPlan.DecisionService, _ realtimeRequest: RealtimeRequest, bundleId: String, facts: RetentionFacts?,
    list: RetentionMessageList?, within time: Duration, _ request: PublicHTTPRequest
  ) async -> Decision {
    let entry = entry(service)
    guard time > .zero, case .call(let permit) = entry.breaker.withLock({ $0.admit(now: WallClock.now()) }) else { return .failed }
    func record(_ result: CircuitBreaker.Result) {
      entry.breaker.withLock { $0.record(permit, result, now: WallClock.now(), chance: Double.random(in: 0..<1)) }
    }
    let response: DecideRetentionResponse
    do throws(RPCError) {
      response = try await entry.client.call(
        RetentionDecisionService.DecideRetention.self, Self.message(realtimeRequest, bundleId, facts, list),
        timeout: min(service.timeout, time), traceparent: request.traceparent, requestId: request.requestId)
    } catch {
      record(.failed)
      logger.info(
        "a decision service did not decide",
        metadata: ["app": "\(bundleId)", "reason": "\(error.code.rawValue)", "requestId": "\(request.requestId)"])
      return .failed
    }
    record(.succeeded)
    do throws(RequestRefusal) { return try Self.decision(response) } catch {
      logger.warning(
        "a decision service's answer cannot be used",
        metadata: ["app": "\(bundleId)", "reason": "\(error)", "requestId": "\(request.requestId)"])
      return .failed
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
    _ realtimeRequest: RealtimeRequest, _ bundleId: String, _ facts: RetentionFacts?, _ list: RetentionMessageList?
  ) -> DecideRetentionRequest {
    DecideRetentionRequest(
      bundleId: bundleId, appAppleId: realtimeRequest.appAppleId ?? 0, environment: realtimeRequest.environment,
      requestIdentifier: realtimeRequest.requestIdentifier, originalTransactionId: realtimeRequest.originalTransactionId,
      productId: realtimeRequest.productId, userLocale: realtimeRequest.userLocale,
      signedDate: Timestamp(millisecondsSince1970: realtimeRequest.signedDate),
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
    throw RequestRefusal(
      field: "answer", "must be message, alternateProduct, promotionalOffer, advancedCommerce, rules or defaultMessage")
  }
}
