import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignIntroductoryOfferEligibility`: signs a JWS that says whether a customer may have the introductory offer of a subscription.
struct SignIntroductoryOfferEligibilityHandler: CoalescingRPCHandler {
  typealias Method = SignerService.SignIntroductoryOfferEligibility

  let issuer: SignatureIssuer

  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    return try issuer.beginAppRequest(request.bundleId, .introductoryOfferEligibility, context) {
      (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.introductoryOfferEligibility(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        allowIntroductoryOffer: request.allowIntroductoryOffer, transactionId: request.transactionId, now: issuer.now())
    }.map { Method.Response(jws: $0.jws, keyId: $0.keyId) }
  }
}
