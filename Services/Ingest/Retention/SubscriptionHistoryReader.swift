import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Reads from verifier what is known about a subscription, for the conditions of retention rules and for decision services.
struct SubscriptionHistoryReader: Sendable {
  let verifier: RPCClient

  enum Result: Sendable {
    case known(RetentionFacts)
    /// Verifier knows nothing about the subscription.
    case unknown
    /// Verifier did not answer in time, or its answer cannot be used.
    case unavailable
  }

  func facts(_ realtimeRequest: RealtimeRequest, within time: Duration, _ request: PublicHTTPRequest) async -> Result {
    guard time > .zero else { return .unavailable }
    do throws(RPCError) {
      let state = try await verifier.call(
        VerifierService.GetSubscriptionState.self,
        GetSubscriptionStateRequest(
          originalTransactionId: realtimeRequest.originalTransactionId, environment: realtimeRequest.environment, brief: true),
        timeout: time, traceparent: request.traceparent, requestId: request.requestId)
      guard let status = SubscriptionStatus(rawValue: state.state) else { return .unavailable }
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
      return error.code == .notFound ? .unknown : .unavailable
    }
  }
}
