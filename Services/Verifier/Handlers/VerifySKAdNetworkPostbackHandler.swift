import AttributionProtocol
import ServiceRuntime

struct VerifySKAdNetworkPostbackHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifySKAdNetworkPostback
  let verdicts: Verdicts

  func answer(_ request: VerifySKAdNetworkPostbackRequest, _ context: RPCContext) throws(RPCError)
    -> VerifySKAdNetworkPostbackResponse
  {
    try verdicts.verify(request)
  }
}
