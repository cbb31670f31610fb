import AttributionProtocol
import ServiceRuntime

struct VerifyAdAttributionKitImpressionHandler: RPCHandler {
  typealias Method = VerifierService.VerifyAdAttributionKitImpression
  let verdicts: Verdicts

  func handle(_ request: VerifyAdAttributionKitImpressionRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifyAdAttributionKitImpressionResponse
  {
    try await verdicts.verify(request)
  }
}
