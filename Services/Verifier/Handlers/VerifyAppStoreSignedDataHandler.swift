import AttributionProtocol
import ServiceRuntime

/// `VerifyAppStoreSignedData` if revocation is not checked: the verdict is computed without I/O.
struct VerifyAppStoreSignedDataOfflineHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  let verdicts: Verdicts

  func respond(to request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try verdicts.verifyOffline(request)
  }
}

/// `VerifyAppStoreSignedData` if revocation is checked: OCSP responders may be asked.
struct VerifyAppStoreSignedDataHandler: RPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  let verdicts: Verdicts

  func handle(_ request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try await verdicts.verify(request)
  }
}
