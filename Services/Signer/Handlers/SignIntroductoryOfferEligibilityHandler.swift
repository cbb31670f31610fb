import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignIntroductoryOfferEligibility`: whether a customer may have the introductory offer.
struct SignIntroductoryOfferEligibilityHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignIntroductoryOfferEligibility

  let desk: SigningDesk

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let (jws, keyId) = try desk.signAppRequest(request.bundleId, .introductoryOfferEligibility, context) {
      (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.introductoryOfferEligibility(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        allowIntroductoryOffer: request.allowIntroductoryOffer, transactionId: request.transactionId, now: desk.now())
    }
    return Method.Response(jws: jws, keyId: keyId)
  }
}
