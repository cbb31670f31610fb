import AppStore
import AttributionProtocol
import ServiceRuntime

/// `SignPromotionalOffer`: signs a promotional offer in the original format, a signature beside its values (Generating a signature for
/// promotional offers), and returns also all values as they were signed. `SignPromotionalOfferJWS` signs the newer format.
struct SignPromotionalOfferHandler: CoalescingRPCHandler {
  typealias Method = SignerService.SignPromotionalOffer

  let issuer: SignatureIssuer

  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    let (bundleId, key) = try issuer.keyring.appRequestKey(request.bundleId)
    let offer = try Signing.checked { () throws(SigningRefusal) in
      try PromotionalOffer(
        bundleId: bundleId, keyId: key.keyId, productIdentifier: request.productIdentifier,
        offerIdentifier: request.offerIdentifier, applicationUsername: request.applicationUsername,
        appAccountToken: request.appAccountToken, nonce: request.nonce, timestamp: request.timestamp, now: issuer.now())
    }
    let pending = PendingSignature(
      issuer: issuer, identity: key.identity, method: .promotionalOffer, message: offer.message, context: context)
    return CoalescedCall(pending) { () throws(RPCError) in
      Method.Response(
        signature: PromotionalOffer.text(of: try pending.signature()), keyId: offer.keyId, bundleId: bundleId,
        productIdentifier: offer.productIdentifier, offerIdentifier: offer.offerIdentifier,
        applicationUsername: offer.applicationUsername, nonce: offer.nonce, timestamp: offer.timestamp)
    }
  }
}
