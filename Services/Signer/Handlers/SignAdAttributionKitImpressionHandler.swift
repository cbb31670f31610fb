import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime

/// `SignAdAttributionKitImpression`: signs an impression as a compact JWS, and returns also all values as they were signed.
struct SignAdAttributionKitImpressionHandler: CoalescingRPCHandler {
  typealias Method = SignerService.SignAdAttributionKitImpression

  let issuer: SignatureIssuer

  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    let parameters = AdAttributionKitImpression.Parameters(
      adNetworkId: request.adNetworkId, sourceIdentifier: request.sourceIdentifier.map { Int64($0) },
      advertisedItemId: request.advertisedItemId, publisherItemId: request.publisherItemId,
      impressionType: request.impressionType, eligibleForReEngagement: request.eligibleForReEngagement,
      impressionId: request.impressionId, timestamp: request.timestamp)
    let impression = try Signing.checked { () throws(FieldError) in
      try AdAttributionKitImpression(validating: parameters, now: issuer.now(), allowsAnyTime: request.anyTimestamp == true)
    }
    let identity = try issuer.keyring.active(for: impression.adNetworkId)
    let input = impression.signingInput(encodedHeader: identity.impressionHeader)
    let pending = PendingSignature(
      issuer: issuer, identity: identity, method: .adAttributionKitImpression, message: Array(input.utf8), context: context)
    return CoalescedCall(pending) { () throws(RPCError) in
      Method.Response(
        jws: CompactJWS.completed(input, with: try pending.signature()), adNetworkId: impression.adNetworkId,
        sourceIdentifier: Int32(impression.sourceIdentifier),
        advertisedItemId: impression.advertisedItemId, publisherItemId: impression.publisherItemId,
        impressionType: AdAttributionKitImpression.appImpression, eligibleForReEngagement: impression.eligibleForReEngagement,
        impressionId: impression.impressionId, timestamp: impression.timestamp, keyId: identity.keyId,
        sourceIdentifierDigits: Int32(impression.sourceIdentifierDigits))
    }
  }
}
