import AppStore
import AttributionProtocol
import ServiceRuntime

/// Makes the answer for a proposal that needs a signature: has signer sign the offer for the customer of the request.
struct RetentionSigner: Sendable {
  let offers: OfferSigning

  /// An answer, and what its event reports about the offer.
  struct SignedAnswer: Sendable {
    let answer: RealtimeAnswer
    let keyId: String
    let productId: String?
    let offerIdentifier: String?
  }

  /// Throws if signer does not sign in time.
  func sign(
    _ proposal: RetentionProposal, _ realtimeRequest: RealtimeRequest, bundleId: String, within time: Duration, _ request: PublicHTTPRequest
  ) async throws(RPCError) -> SignedAnswer {
    guard time > .zero else { throw RPCError(.deadlineExceeded, "no time is left to call signer") }
    let id = proposal.messageIdentifier
    switch proposal.content {
    case .message, .alternateProduct: throw RPCError(.internal, "the proposal needs no signature")
    case .promotionalOffer(let offer) where offer.version == .v2:
      let product = offer.productId ?? realtimeRequest.productId
      let item = OfferItem(
        promotionalOfferJws: SignPromotionalOfferJWSRequest(
          bundleId: bundleId, productId: product, offerIdentifier: offer.offerIdentifier,
          transactionId: realtimeRequest.originalTransactionId))
      guard let signed = try await offers.sign(item, within: time, request).promotionalOfferJws else { throw Self.wrongKind }
      return SignedAnswer(
        answer: .promotionalOffer(identifier: id, .jws(signed.jws)), keyId: signed.keyId, productId: product,
        offerIdentifier: offer.offerIdentifier)
    case .promotionalOffer(let offer):
      let product = offer.productId ?? realtimeRequest.productId
      let item = OfferItem(
        promotionalOffer: SignPromotionalOfferRequest(
          bundleId: bundleId, productIdentifier: product, offerIdentifier: offer.offerIdentifier, appAccountToken: offer.appAccountToken))
      guard let signed = try await offers.sign(item, within: time, request).promotionalOffer else { throw Self.wrongKind }
      guard let timestamp = signed.timestamp else { throw RPCError(.internal, "signer's answer has no timestamp") }
      let signature = OriginalOfferSignature(
        encodedSignature: signed.signature, productId: product, nonce: signed.nonce, timestamp: timestamp, keyId: signed.keyId,
        offerIdentifier: offer.offerIdentifier, appAccountToken: offer.appAccountToken)
      return SignedAnswer(
        answer: .promotionalOffer(identifier: id, .original(signature)), keyId: signed.keyId, productId: product,
        offerIdentifier: offer.offerIdentifier)
    case .advancedCommerce(let text):
      let item = OfferItem(
        advancedCommerceRequest: SignAdvancedCommerceRequestRequest(
          bundleId: bundleId, requestText: AdvancedCommerceOffer.request(text, for: realtimeRequest)))
      guard let signed = try await offers.sign(item, within: time, request).advancedCommerceRequest else { throw Self.wrongKind }
      return SignedAnswer(
        answer: .advancedCommerce(identifier: id, data: AdvancedCommerceOffer.data(jws: signed.jws)), keyId: signed.keyId, productId: nil,
        offerIdentifier: nil)
    }
  }

  private static var wrongKind: RPCError { RPCError(.internal, "signer's answer is for an offer of another kind") }
}
