import AttributionProtocol
import ServiceRuntime

struct VerifyAdAttributionKitPostbackHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifyAdAttributionKitPostback
  let verdicts: Verdicts

  func respond(to request: VerifyAdAttributionKitPostbackRequest, _ context: RPCContext) throws(RPCError)
    -> VerifyAdAttributionKitPostbackResponse
  {
    try verdicts.verify(request)
  }
}
