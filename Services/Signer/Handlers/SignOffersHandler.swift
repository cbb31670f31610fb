import AttributionProtocol
import ServiceRuntime

/// `SignOffers`: signs a batch of offers and in-app requests (`limits.batchItems`) on all cores. Each result is a signed item or an error,
/// in the order of the items.
struct SignOffersHandler: SigningBatchHandler {
  typealias Method = SignerService.SignOffers
  typealias Item = OfferItem
  typealias ItemResult = OfferResult

  let promotionalOffer: SignPromotionalOfferHandler
  let promotionalOfferJWS: SignPromotionalOfferJWSHandler
  let introductoryOfferEligibility: SignIntroductoryOfferEligibilityHandler
  let advancedCommerceRequest: SignAdvancedCommerceRequestHandler

  func begin(_ item: OfferItem, _ context: RPCContext) throws(RPCError) -> CheckedItem<OfferResult> {
    if let request = item.promotionalOffer {
      return .signature(try promotionalOffer.begin(request, context).map { OfferResult(promotionalOffer: $0) })
    }
    if let request = item.promotionalOfferJws {
      return .signature(try promotionalOfferJWS.begin(request, context).map { OfferResult(promotionalOfferJws: $0) })
    }
    if let request = item.introductoryOfferEligibility {
      return .signature(try introductoryOfferEligibility.begin(request, context).map { OfferResult(introductoryOfferEligibility: $0) })
    }
    if let request = item.advancedCommerceRequest {
      return .signature(try advancedCommerceRequest.begin(request, context).map { OfferResult(advancedCommerceRequest: $0) })
    }
    throw .invalidArgument(
      field: "", "must be promotionalOffer, promotionalOfferJws, introductoryOfferEligibility or advancedCommerceRequest")
  }

  func failure(_ error: RPCError) -> OfferResult { OfferResult(error: ItemError(error)) }
}
