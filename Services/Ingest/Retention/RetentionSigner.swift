import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Has signer sign an answer for the very customer who is asked about.
struct RetentionSigner: Sendable {
  let signer: RPCClient

  struct Signed: Sendable {
    let answer: RealtimeAnswer
    let keyId: String
    let productId: String?
    let offerIdentifier: String?
  }

  /// Throws where signer does not sign, or not in time.
  func sign(
    _ proposal: RetentionProposal, _ question: RealtimeRequest, bundleId: String, within time: Duration, _ request: PublicRequest
  ) async throws(RPCError) -> Signed {
    guard time > .zero else { throw RPCError(.deadlineExceeded, "no time is left") }
    let id = proposal.messageIdentifier
    switch proposal.content {
    case .message, .alternateProduct: throw RPCError(.internal, "needs no signature")
    case .promotionalOffer(let offer) where offer.version == .v2:
      let product = offer.productId ?? question.productId
      let signed = try await signer.call(
        SignerService.SignPromotionalOfferJWS.self,
        SignPromotionalOfferJWSRequest(
          bundleId: bundleId, productId: product, offerIdentifier: offer.offerIdentifier, transactionId: question.originalTransactionId),
        timeout: time, traceparent: request.traceparent, requestId: request.requestId)
      return Signed(
        answer: .promotionalOffer(identifier: id, .jws(signed.jws)), keyId: signed.keyId, productId: product,
        offerIdentifier: offer.offerIdentifier)
    case .promotionalOffer(let offer):
      let product = offer.productId ?? question.productId
      let signed = try await signer.call(
        SignerService.SignPromotionalOffer.self,
        SignPromotionalOfferRequest(
          bundleId: bundleId, productIdentifier: product, offerIdentifier: offer.offerIdentifier, appAccountToken: offer.appAccountToken),
        timeout: time, traceparent: request.traceparent, requestId: request.requestId)
      guard let timestamp = signed.timestamp else { throw RPCError(.internal, "signer says no timestamp") }
      let signature = OriginalOfferSignature(
        encodedSignature: signed.signature, productId: product, nonce: signed.nonce, timestamp: timestamp, keyId: signed.keyId,
        offerIdentifier: offer.offerIdentifier, appAccountToken: offer.appAccountToken)
      return Signed(
        answer: .promotionalOffer(identifier: id, .original(signature)), keyId: signed.keyId, productId: product,
        offerIdentifier: offer.offerIdentifier)
    case .advancedCommerce(let text):
      let signed = try await signer.call(
        SignerService.SignAdvancedCommerceRequest.self,
        SignAdvancedCommerceRequestRequest(bundleId: bundleId, requestText: AdvancedCommerceOffer.request(text, for: question)),
        timeout: time, traceparent: request.traceparent, requestId: request.requestId)
      return Signed(
        answer: .advancedCommerce(identifier: id, data: AdvancedCommerceOffer.data(jws: signed.jws)), keyId: signed.keyId, productId: nil,
        offerIdentifier: nil)
    }
  }
}
