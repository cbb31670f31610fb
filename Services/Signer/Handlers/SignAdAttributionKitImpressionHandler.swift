import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime

/// `SignAdAttributionKitImpression`: a compact JWS, and every value as it was signed.
struct SignAdAttributionKitImpressionHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignAdAttributionKitImpression

  let desk: SigningDesk

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    try sign(request, context)
  }

  func sign(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let parameters = AdAttributionKitImpression.Parameters(
      adNetworkId: request.adNetworkId, sourceIdentifier: request.sourceIdentifier.map { Int64($0) },
      advertisedItemId: request.advertisedItemId, publisherItemId: request.publisherItemId,
      impressionType: request.impressionType, eligibleForReEngagement: request.eligibleForReEngagement,
      impressionId: request.impressionId, timestamp: request.timestamp)
    let impression = try Signing.checked { () throws(FieldError) in
      try AdAttributionKitImpression(validating: parameters, now: desk.now())
    }
    let identity = try desk.keyring.active(for: impression.adNetworkId)
    let jws = try Signing.signed { () throws(SignatureError) in
      try impression.sign(
        with: desk.signer(identity, .adAttributionKitImpression, context), encodedHeader: identity.impressionHeader)
    }
    return Method.Response(
      jws: jws, adNetworkId: impression.adNetworkId, sourceIdentifier: Int32(impression.sourceIdentifier),
      advertisedItemId: impression.advertisedItemId, publisherItemId: impression.publisherItemId,
      impressionType: AdAttributionKitImpression.appImpression, eligibleForReEngagement: impression.eligibleForReEngagement,
      impressionId: impression.impressionId, timestamp: impression.timestamp, keyId: identity.keyId)
  }
}
