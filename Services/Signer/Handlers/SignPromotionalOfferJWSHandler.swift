import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignPromotionalOfferJWS`: an offer in its second form.
struct SignPromotionalOfferJWSHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignPromotionalOfferJWS

  let issuer: SignatureIssuer

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let (jws, keyId) = try issuer.signAppRequest(request.bundleId, .promotionalOfferJWS, context) {
      (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.promotionalOffer(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        offerIdentifier: request.offerIdentifier, transactionId: request.transactionId, now: issuer.now())
    }
    return Method.Response(jws: jws, keyId: keyId)
  }
}
