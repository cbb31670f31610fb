import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Change Subscription Price.
struct ChangeAdvancedCommercePriceHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.ChangeAdvancedCommercePrice
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.changePrice, request, context)
  }
}

extension ChangeAdvancedCommercePriceRequest: CommerceRequestMessage {}
extension ChangeAdvancedCommercePriceResponse: CommerceResponseMessage {}
