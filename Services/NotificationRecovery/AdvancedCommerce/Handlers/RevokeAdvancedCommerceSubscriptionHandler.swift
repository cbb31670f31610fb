import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Revoke Subscription.
struct RevokeAdvancedCommerceSubscriptionHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.RevokeAdvancedCommerceSubscription
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.revoke, request, context)
  }
}

extension RevokeAdvancedCommerceSubscriptionRequest: CommerceRequestMessage {}
extension RevokeAdvancedCommerceSubscriptionResponse: CommerceResponseMessage {}
