import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignIntroductoryOfferEligibility`: whether a customer may have the introductory offer.
struct SignIntroductoryOfferEligibilityHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignIntroductoryOfferEligibility

  let issuer: SignatureIssuer

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let (jws, keyId) = try issuer.signAppRequest(request.bundleId, .introductoryOfferEligibility, context) {
      (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.introductoryOfferEligibility(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        allowIntroductoryOffer: request.allowIntroductoryOffer, transactionId: request.transactionId, now: issuer.now())
    }
    return Method.Response(jws: jws, keyId: keyId)
  }
}
