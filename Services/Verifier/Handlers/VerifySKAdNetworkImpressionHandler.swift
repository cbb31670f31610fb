import AttributionProtocol
import ServiceRuntime

struct VerifySKAdNetworkImpressionHandler: RPCHandler {
  typealias Method = VerifierService.VerifySKAdNetworkImpression
  let verdicts: Verdicts

  func handle(_ request: VerifySKAdNetworkImpressionRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifySKAdNetworkImpressionResponse
  {
    try await verdicts.verify(request)
  }
}
