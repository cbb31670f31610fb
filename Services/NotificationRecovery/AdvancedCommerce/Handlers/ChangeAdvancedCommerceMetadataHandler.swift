import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Change Subscription Metadata.
struct ChangeAdvancedCommerceMetadataHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.ChangeAdvancedCommerceMetadata
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.changeMetadata, request, context)
  }
}

extension ChangeAdvancedCommerceMetadataRequest: CommerceRequestMessage {}
extension ChangeAdvancedCommerceMetadataResponse: CommerceResponseMessage {}
