import AppStore
import AttributionProtocol
import ServiceRuntime

/// `VerifyAppStoreSignedData` if the setting `appStore.revocation` is `off`: the data is verified without I/O.
struct VerifyAppStoreSignedDataOfflineHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifyAppStoreSignedData
  let verdicts: Verdicts

  func respond(to request: VerifyAppStoreSignedDataRequest, _ context: RPCContext) throws(RPCError)
    -> VerifyAppStoreSignedDataResponse
  {
    try verdicts.verifyOffline(request)
  }
}

/// `VerifyAppStoreSignedData` if the revocation of certificates is checked: OCSP responders may be asked.
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
  /// Verifies data without checking the revocation of its certificates.
  func verifyOffline(_ request: VerifyAppStoreSignedDataRequest) throws(RPCError) -> VerifyAppStoreSignedDataResponse {
    let (text, kind, expecting) = try Self.parameters(request)
    return Self.response(signedData.offlineVerdict(on: text, kind: kind, expecting: expecting, now: WallClock.now()))
  }

  /// Verifies data, and checks the revocation of its certificates if the setting `appStore.revocation` requires it.
  func verify(_ request: VerifyAppStoreSignedDataRequest) async throws(RPCError) -> VerifyAppStoreSignedDataResponse {
    let (text, kind, expecting) = try Self.parameters(request)
    return Self.response(await signedData.verdict(on: text, kind: kind, expecting: expecting, now: WallClock.now()))
  }

  /// The data, its kind and its expected properties, from a request.
  private static func parameters(_ request: VerifyAppStoreSignedDataRequest) throws(RPCError) -> (
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
      SignedDataExpectation(
        bundleId: request.bundleId, appAppleId: request.appAppleId, environment: request.environment,
        trustedSource: request.trustedSource ?? false)
    )
  }

  private static func response(_ verdict: SignedDataVerdict) -> VerifyAppStoreSignedDataResponse {
    VerifyAppStoreSignedDataResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, environment: verdict.environment,
      payload: verdict.payload, transactionInfo: verdict.transactionInfo, renewalInfo: verdict.renewalInfo,
      appTransactionInfo: verdict.appTransactionInfo, known: verdict.valid ? verdict.known : nil)
  }
}
