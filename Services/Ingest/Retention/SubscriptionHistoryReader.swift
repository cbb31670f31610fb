import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Reads from verifier what is known about a subscription.
struct SubscriptionHistoryReader: Sendable {
  let verifier: RPCClient

  enum Finding: Sendable {
    case known(RetentionFacts)
    /// Nothing is known about the subscription.
    case none
    /// The history was not available in time.
    case away
  }

  func facts(_ question: RealtimeRequest, within time: Duration, _ request: PublicHTTPRequest) async -> Finding {
    guard time > .zero else { return .away }
    do throws(RPCError) {
      let state = try await verifier.call(
        VerifierService.GetSubscriptionState.self,
        GetSubscriptionStateRequest(
          originalTransactionId: question.originalTransactionId, environment: question.environment, brief: true),
        timeout: time, traceparent: request.traceparent, requestId: request.requestId)
      guard let status = SubscriptionStatus(rawValue: state.state) else { return .away }
      var facts = RetentionFacts(status: status)
      facts.productId = state.productId
      facts.subscriptionGroupId = state.subscriptionGroupIdentifier
      facts.storefront = state.storefront
      facts.priceMilliunits = state.priceMilliunits
      facts.currency = state.currency
      facts.autoRenew = state.autoRenew
      facts.originalPurchaseDate = state.originalPurchaseDate?.millisecondsSince1970
      facts.expiresDate = state.expiresDate?.millisecondsSince1970
      return .known(facts)
    } catch {
      return error.code == .notFound ? .none : .away
    }
  }
}
