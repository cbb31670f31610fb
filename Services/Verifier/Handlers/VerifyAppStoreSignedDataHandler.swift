import AttributionProtocol
import ServiceRuntime

struct VerifyAppStoreSignedDataHandler: RPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  static let isImmediate = true
  let verdicts: Verdicts

  func handle(_ request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try verdicts.judge(request)
  }
}
