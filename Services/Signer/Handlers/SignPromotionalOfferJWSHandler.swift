import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignPromotionalOfferJWS`: signs a promotional offer as a JWS, the newer of the two formats (Generating JWS to sign App Store requests).
struct SignPromotionalOfferJWSHandler: CoalescingRPCHandler {
  typealias Method = SignerService.SignPromotionalOfferJWS

  let issuer: SignatureIssuer

  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    return try issuer.beginAppRequest(request.bundleId, .promotionalOfferJWS, context) {
      (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.promotionalOffer(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        offerIdentifier: request.offerIdentifier, transactionId: request.transactionId, now: issuer.now())
    }.map { Method.Response(jws: $0.jws, keyId: $0.keyId) }
  }
}
