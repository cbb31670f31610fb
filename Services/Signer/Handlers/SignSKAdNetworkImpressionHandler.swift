import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime

/// `SignSKAdNetworkImpression`: signs an impression with the ad network's active key, and returns also all values as they were signed.
struct SignSKAdNetworkImpressionHandler: CoalescingRPCHandler {
  typealias Method = SignerService.SignSKAdNetworkImpression

  let issuer: SignatureIssuer
  let domains: SourceDomainRule

  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    let parameters = SKAdNetworkImpression.Parameters(
      version: request.version, adNetworkId: request.adNetworkId, campaignId: request.campaignId.map { Int64($0) },
      sourceIdentifier: request.sourceIdentifier.map { Int64($0) }, itunesItemId: request.itunesItemId,
      sourceAppId: request.sourceAppId, sourceDomain: request.sourceDomain, fidelityType: request.fidelityType.map { Int64($0) },
      nonce: request.nonce, timestamp: request.timestamp)
    let impression = try Signing.checked { () throws(FieldError) in
      try SKAdNetworkImpression(
        validating: parameters, now: issuer.now(), allowsAnyTime: request.anyTimestamp == true, domains: domains)
    }
    let identity = try issuer.keyring.active(for: impression.adNetworkId)
    let pending = PendingSignature(
      issuer: issuer, identity: identity, method: .skAdNetworkImpression, message: impression.signedString, context: context)
    return CoalescedCall(pending) { () throws(RPCError) in
      Method.Response(
        version: impression.version.rawValue, adNetworkId: impression.adNetworkId,
        campaignId: impression.campaignId.map { Int32($0) }, sourceIdentifier: impression.sourceIdentifier.map { Int32($0) },
        itunesItemId: impression.itunesItemId, sourceAppId: impression.sourceAppId, sourceDomain: impression.sourceDomain,
        fidelityType: impression.fidelityType.map { Int32($0) }, nonce: impression.nonce, timestamp: impression.timestamp,
        signature: SKAdNetworkImpression.text(of: try pending.signature()), keyId: identity.keyId,
        sourceIdentifierDigits: impression.sourceIdentifierDigits.map { Int32($0) })
    }
  }
}
