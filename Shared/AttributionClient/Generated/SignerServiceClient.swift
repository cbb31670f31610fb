// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Signs impressions, offers and tokens. The only service that holds private keys.
public struct SignerServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Signs a SKAdNetwork impression (StoreKit-rendered or view-through).
  public func signSKAdNetworkImpression(_ request: SignSKAdNetworkImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SignSKAdNetworkImpressionResponse
  {
    try await rpc.call(SignerService.SignSKAdNetworkImpression.self, request, options)
  }

  /// Signs the payload of a web ad (SKAdNetwork for Web Ads, 4.0).
  public func signSKAdNetworkWebImpression(_ request: SignSKAdNetworkWebImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SignSKAdNetworkWebImpressionResponse
  {
    try await rpc.call(SignerService.SignSKAdNetworkWebImpression.self, request, options)
  }

  /// Signs a stored web ad (`deferred`) for the device that requests it. A repeated request gets the same payload.
  public func signDeferredSKAdNetworkWebImpression(
    _ request: SignDeferredSKAdNetworkWebImpressionRequest, options: CallOptions = CallOptions()
  ) async throws(RPCError) -> SignDeferredSKAdNetworkWebImpressionResponse {
    try await rpc.call(SignerService.SignDeferredSKAdNetworkWebImpression.self, request, options)
  }

  /// Signs an AdAttributionKit impression as a compact JWS. The device accepts a tap on a custom click ad only within 15 minutes after it created
  /// the impression object, and a view only if the ad was shown for 2 seconds. Neither time is counted from `timestamp`, and a cached signature
  /// extends neither.
  public func signAdAttributionKitImpression(_ request: SignAdAttributionKitImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SignAdAttributionKitImpressionResponse
  {
    try await rpc.call(SignerService.SignAdAttributionKitImpression.self, request, options)
  }

  /// Signs up to 1,000 impressions of any kind. The results are in the order of the items: a signature or an error for each.
  public func signImpressions(_ request: SignImpressionsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SignImpressionsResponse
  {
    try await rpc.call(SignerService.SignImpressions.self, request, options)
  }

  /// Signs up to 1,000 offers and in-app requests of any kind. The results are in the order of the items: a signature or an error for each.
  public func signOffers(_ request: SignOffersRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> SignOffersResponse {
    try await rpc.call(SignerService.SignOffers.self, request, options)
  }

  /// Creates an authorization token for the App Store Server API.
  public func createAppStoreServerToken(_ request: CreateAppStoreServerTokenRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> CreateAppStoreServerTokenResponse
  {
    try await rpc.call(SignerService.CreateAppStoreServerToken.self, request, options)
  }

  /// Signs a promotional offer in its original form.
  public func signPromotionalOffer(_ request: SignPromotionalOfferRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SignPromotionalOfferResponse
  {
    try await rpc.call(SignerService.SignPromotionalOffer.self, request, options)
  }

  /// Signs a promotional offer in its JWS form.
  public func signPromotionalOfferJWS(_ request: SignPromotionalOfferJWSRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SignPromotionalOfferJWSResponse
  {
    try await rpc.call(SignerService.SignPromotionalOfferJWS.self, request, options)
  }

  /// Signs the eligibility for an introductory offer.
  public func signIntroductoryOfferEligibility(_ request: SignIntroductoryOfferEligibilityRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SignIntroductoryOfferEligibilityResponse
  {
    try await rpc.call(SignerService.SignIntroductoryOfferEligibility.self, request, options)
  }

  /// Signs an Advanced Commerce in-app request.
  public func signAdvancedCommerceRequest(_ request: SignAdvancedCommerceRequestRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SignAdvancedCommerceRequestResponse
  {
    try await rpc.call(SignerService.SignAdvancedCommerceRequest.self, request, options)
  }

  /// Lists the signing keys with their public keys.
  public func listSigningKeys(_ request: ListSigningKeysRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListSigningKeysResponse
  {
    try await rpc.call(SignerService.ListSigningKeys.self, request, options)
  }
}
