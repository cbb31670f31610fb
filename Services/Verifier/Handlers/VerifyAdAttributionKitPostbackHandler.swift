import AttributionProtocol
import ServiceRuntime

struct VerifyAdAttributionKitPostbackHandler: RPCHandler {
  typealias Method = VerifierService.VerifyAdAttributionKitPostback
  static let isImmediate = true
  let verdicts: Verdicts

  func handle(_ request: VerifyAdAttributionKitPostbackRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifyAdAttributionKitPostbackResponse
  {
    try verdicts.judge(request)
  }
}
