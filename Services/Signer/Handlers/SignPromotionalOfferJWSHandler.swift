import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignPromotionalOfferJWS`: an offer in its second form.
struct SignPromotionalOfferJWSHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignPromotionalOfferJWS

  let keyring: Keyring
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let (jws, keyId) = try keyring.signAppRequest(request.bundleId) { (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.promotionalOffer(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        offerIdentifier: request.offerIdentifier, transactionId: request.transactionId, now: now())
    }
    return Method.Response(jws: jws, keyId: keyId)
  }
}
