import AttributionProtocol
import ServiceRuntime

struct VerifySKAdNetworkPostbackHandler: RPCHandler {
  typealias Method = VerifierService.VerifySKAdNetworkPostback
  static let isImmediate = true
  let verdicts: Verdicts

  func handle(_ request: VerifySKAdNetworkPostbackRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifySKAdNetworkPostbackResponse
  {
    try verdicts.judge(request)
  }
}
