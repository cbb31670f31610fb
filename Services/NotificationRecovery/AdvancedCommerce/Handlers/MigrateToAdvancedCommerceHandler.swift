import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Migrate a Subscription to Advanced Commerce API.
struct MigrateToAdvancedCommerceHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.MigrateToAdvancedCommerce
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.migrate, request, context)
  }
}

extension MigrateToAdvancedCommerceRequest: CommerceRequestMessage {}
extension MigrateToAdvancedCommerceResponse: CommerceResponseMessage {}
