import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `VerifyAdAttributionKitImpression`: verifies an impression with the public keys of our ad networks.
struct VerifyAdAttributionKitImpressionHandler: RPCHandler {
  typealias Method = VerifierService.VerifyAdAttributionKitImpression
  let verdicts: Verdicts

  func handle(_ request: VerifyAdAttributionKitImpressionRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifyAdAttributionKitImpressionResponse
  {
    try await verdicts.verify(request)
  }
}

extension Verdicts {
  func verify(_ request: VerifyAdAttributionKitImpressionRequest) async throws(RPCError) -> VerifyAdAttributionKitImpressionResponse {
    guard let jws = request.jws else { throw .invalidArgument(field: "jws", "is missing") }
    let verdict = try await impressions.verdict { $0.verdict(onAdAttributionKit: jws) }
    return VerifyAdAttributionKitImpressionResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, keyId: verdict.keyId,
      payload: verdict.payload)
  }
}
