import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignPromotionalOfferJWS`: an offer in its second form.
struct SignPromotionalOfferJWSHandler: RPCHandler {
  typealias Method = SignerService.SignPromotionalOfferJWS
  static let isImmediate = true

  let keyring: Keyring
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let (jws, keyId) = try keyring.signAppRequest(request.bundleId) { (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.promotionalOffer(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, productId: request.productId,
        offerIdentifier: request.offerIdentifier, transactionId: request.transactionId, now: now())
    }
    return Method.Response(jws: jws, keyId: keyId)
  }
}
