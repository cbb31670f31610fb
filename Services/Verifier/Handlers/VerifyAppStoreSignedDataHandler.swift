import AttributionProtocol
import ServiceRuntime

/// `VerifyAppStoreSignedData`, where nobody is asked about certificates: a verdict is computed at once.
struct ProveAppStoreSignedDataHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  let verdicts: Verdicts

  func answer(_ request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try verdicts.prove(request)
  }
}

/// `VerifyAppStoreSignedData`, where responders are asked.
struct VerifyAppStoreSignedDataHandler: RPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  let verdicts: Verdicts

  func handle(_ request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try await verdicts.judge(request)
  }
}
