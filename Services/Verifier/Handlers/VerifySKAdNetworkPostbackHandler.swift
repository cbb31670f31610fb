import AttributionProtocol
import ServiceRuntime

struct VerifySKAdNetworkPostbackHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifySKAdNetworkPostback
  let verdicts: Verdicts

  func respond(to request: VerifySKAdNetworkPostbackRequest, _ context: RPCContext) throws(RPCError)
    -> VerifySKAdNetworkPostbackResponse
  {
    try verdicts.verify(request)
  }
}
