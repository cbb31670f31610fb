import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Cancel a Subscription.
struct CancelAdvancedCommerceSubscriptionHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.CancelAdvancedCommerceSubscription
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.cancel, request, context)
  }
}

extension CancelAdvancedCommerceSubscriptionRequest: CommerceRequestMessage {}
extension CancelAdvancedCommerceSubscriptionResponse: CommerceResponseMessage {}
