import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `VerifySKAdNetworkImpression`: verifies an impression with the public keys of our ad networks.
struct VerifySKAdNetworkImpressionHandler: RPCHandler {
  typealias Method = VerifierService.VerifySKAdNetworkImpression
  let verdicts: Verdicts

  func handle(_ request: VerifySKAdNetworkImpressionRequest, _ context: RPCContext) async throws(RPCError)
    -> VerifySKAdNetworkImpressionResponse
  {
    try await verdicts.verify(request)
  }
}

extension Verdicts {
  func verify(_ request: VerifySKAdNetworkImpressionRequest) async throws(RPCError) -> VerifySKAdNetworkImpressionResponse {
    let parameters = SKAdNetworkImpression.Parameters(
      version: request.version, adNetworkId: request.adNetworkId, campaignId: request.campaignId.map(Int64.init),
      sourceIdentifier: request.sourceIdentifier.map(Int64.init), itunesItemId: request.itunesItemId,
      sourceAppId: request.sourceAppId, sourceDomain: request.sourceDomain, fidelityType: request.fidelityType.map(Int64.init),
      nonce: request.nonce, timestamp: request.timestamp)
    let verdict = try await impressions.verdict { $0.verdict(onSKAdNetwork: parameters, signature: request.signature) }
    return VerifySKAdNetworkImpressionResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, keyId: verdict.keyId)
  }
}
