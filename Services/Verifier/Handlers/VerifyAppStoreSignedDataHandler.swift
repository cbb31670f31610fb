import AttributionProtocol
import ServiceRuntime

struct VerifyAppStoreSignedDataHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  let verdicts: Verdicts

  func answer(_ request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try verdicts.judge(request)
  }
}
