import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Request Transaction Refund.
struct RequestAdvancedCommerceRefundHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.RequestAdvancedCommerceRefund
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.requestRefund, request, context)
  }
}

extension RequestAdvancedCommerceRefundRequest: CommerceRequestMessage {}
extension RequestAdvancedCommerceRefundResponse: CommerceResponseMessage {}
