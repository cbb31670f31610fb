import AppStore
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

extension Verdicts {
  /// Verifies without asking responders about the revocation of certificates.
  func verifyOffline(_ request: VerifyAppStoreSignedDataRequest) throws(RPCError) -> VerifyAppStoreSignedDataResponse {
    let (text, kind, expecting) = try Self.question(request)
    return Self.response(signedData.offlineVerdict(on: text, kind: kind, expecting: expecting, now: WallClock.now()))
  }

  func verify(_ request: VerifyAppStoreSignedDataRequest) async throws(RPCError) -> VerifyAppStoreSignedDataResponse {
    let (text, kind, expecting) = try Self.question(request)
    return Self.response(await signedData.verdict(on: text, kind: kind, expecting: expecting, now: WallClock.now()))
  }

  private static func question(_ request: VerifyAppStoreSignedDataRequest) throws(RPCError) -> (
    String, SignedDataKind, SignedDataExpectation
  ) {
    guard let text = request.signedData else { throw .invalidArgument(field: "signedData", "is missing") }
    guard let kind = request.kind.flatMap(SignedDataKind.init) else {
      throw .invalidArgument(
        field: "kind", "must be one of \(SignedDataKind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if let environment = request.environment, !["Production", "Sandbox", "Xcode", "LocalTesting"].contains(environment) {
      throw .invalidArgument(field: "environment", "must be Production or Sandbox")
    }
    return (
      text, kind,
      SignedDataExpectation(bundleId: request.bundleId, appAppleId: request.appAppleId, environment: request.environment)
    )
  }

  private static func response(_ verdict: SignedDataVerdict) -> VerifyAppStoreSignedDataResponse {
    VerifyAppStoreSignedDataResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, environment: verdict.environment,
      payload: verdict.payload, transactionInfo: verdict.transactionInfo, renewalInfo: verdict.renewalInfo,
      appTransactionInfo: verdict.appTransactionInfo)
  }
}
