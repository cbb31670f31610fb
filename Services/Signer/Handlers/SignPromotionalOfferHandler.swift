import AppStore
import AttributionProtocol
import Cryptography
import ServiceRuntime

/// `SignPromotionalOffer`: an offer in its original form, with the values as signed.
struct SignPromotionalOfferHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignPromotionalOffer

  let issuer: SignatureIssuer

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let (bundleId, key) = try issuer.keyring.appRequestKey(request.bundleId)
    let offer = try Signing.checked { () throws(SigningRefusal) in
      try PromotionalOffer(
        bundleId: bundleId, keyId: key.keyId, productIdentifier: request.productIdentifier,
        offerIdentifier: request.offerIdentifier, applicationUsername: request.applicationUsername,
        appAccountToken: request.appAccountToken, nonce: request.nonce, timestamp: request.timestamp, now: issuer.now())
    }
    return Method.Response(
      signature: try Signing.signed { () throws(SignatureError) in
        try offer.sign(with: issuer.signer(key.identity, .promotionalOffer, context))
      }, keyId: key.keyId,
      bundleId: bundleId, productIdentifier: offer.productIdentifier, offerIdentifier: offer.offerIdentifier,
      applicationUsername: offer.applicationUsername, nonce: offer.nonce, timestamp: offer.timestamp)
  }
}
