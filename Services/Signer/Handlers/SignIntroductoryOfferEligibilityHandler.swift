import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignIntroductoryOfferEligibility`: whether a customer may have the introductory offer.
struct SignIntroductoryOfferEligibilityHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignIntroductoryOfferEligibility

  let keyring: Keyring
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let (jws, keyId) = try keyring.signAppRequest(request.bundleId) { (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.introductoryOfferEligibility(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        allowIntroductoryOffer: request.allowIntroductoryOffer, transactionId: request.transactionId, now: now())
    }
    return Method.Response(jws: jws, keyId: keyId)
  }
}
