// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Signs impressions, offers and tokens. The only service that holds private keys.
public enum SignerService {
  /// The full RPC name.
  public static let name = "attribution.signer.v1.SignerService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    SignSKAdNetworkImpression.self,
    SignSKAdNetworkWebImpression.self,
    SignDeferredSKAdNetworkWebImpression.self,
    SignAdAttributionKitImpression.self,
    SignImpressions.self,
    SignOffers.self,
    CreateAppStoreServerToken.self,
    SignPromotionalOffer.self,
    SignPromotionalOfferJWS.self,
    SignIntroductoryOfferEligibility.self,
    SignAdvancedCommerceRequest.self,
    ListSigningKeys.self,
  ]

  /// Signs a SKAdNetwork impression (StoreKit-rendered or view-through).
  public enum SignSKAdNetworkImpression: RPCMethod {
    public typealias Request = SignSKAdNetworkImpressionRequest
    public typealias Response = SignSKAdNetworkImpressionResponse
    public static let service = SignerService.name
    public static let name = "SignSKAdNetworkImpression"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs the payload of a web ad (SKAdNetwork for Web Ads, 4.0).
  public enum SignSKAdNetworkWebImpression: RPCMethod {
    public typealias Request = SignSKAdNetworkWebImpressionRequest
    public typealias Response = SignSKAdNetworkWebImpressionResponse
    public static let service = SignerService.name
    public static let name = "SignSKAdNetworkWebImpression"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs a stored web ad (`deferred`) for the device that requests it. A repeated request gets the same payload.
  public enum SignDeferredSKAdNetworkWebImpression: RPCMethod {
    public typealias Request = SignDeferredSKAdNetworkWebImpressionRequest
    public typealias Response = SignDeferredSKAdNetworkWebImpressionResponse
    public static let service = SignerService.name
    public static let name = "SignDeferredSKAdNetworkWebImpression"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs an AdAttributionKit impression as a compact JWS. The device accepts a tap on a custom click ad only within 15 minutes after it created
  /// the impression object, and a view only if the ad was shown for 2 seconds. Neither time is counted from `timestamp`, and a cached signature
  /// extends neither.
  public enum SignAdAttributionKitImpression: RPCMethod {
    public typealias Request = SignAdAttributionKitImpressionRequest
    public typealias Response = SignAdAttributionKitImpressionResponse
    public static let service = SignerService.name
    public static let name = "SignAdAttributionKitImpression"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs up to 1,000 impressions of any kind. The results are in the order of the items: a signature or an error for each.
  public enum SignImpressions: RPCMethod {
    public typealias Request = SignImpressionsRequest
    public typealias Response = SignImpressionsResponse
    public static let service = SignerService.name
    public static let name = "SignImpressions"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = true
  }

  /// Signs up to 1,000 offers and in-app requests of any kind. The results are in the order of the items: a signature or an error for each.
  public enum SignOffers: RPCMethod {
    public typealias Request = SignOffersRequest
    public typealias Response = SignOffersResponse
    public static let service = SignerService.name
    public static let name = "SignOffers"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = true
  }

  /// Creates an authorization token for the App Store Server API.
  public enum CreateAppStoreServerToken: RPCMethod {
    public typealias Request = CreateAppStoreServerTokenRequest
    public typealias Response = CreateAppStoreServerTokenResponse
    public static let service = SignerService.name
    public static let name = "CreateAppStoreServerToken"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs a promotional offer in its original form.
  public enum SignPromotionalOffer: RPCMethod {
    public typealias Request = SignPromotionalOfferRequest
    public typealias Response = SignPromotionalOfferResponse
    public static let service = SignerService.name
    public static let name = "SignPromotionalOffer"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs a promotional offer in its JWS form.
  public enum SignPromotionalOfferJWS: RPCMethod {
    public typealias Request = SignPromotionalOfferJWSRequest
    public typealias Response = SignPromotionalOfferJWSResponse
    public static let service = SignerService.name
    public static let name = "SignPromotionalOfferJWS"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs the eligibility for an introductory offer.
  public enum SignIntroductoryOfferEligibility: RPCMethod {
    public typealias Request = SignIntroductoryOfferEligibilityRequest
    public typealias Response = SignIntroductoryOfferEligibilityResponse
    public static let service = SignerService.name
    public static let name = "SignIntroductoryOfferEligibility"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Signs an Advanced Commerce in-app request.
  public enum SignAdvancedCommerceRequest: RPCMethod {
    public typealias Request = SignAdvancedCommerceRequestRequest
    public typealias Response = SignAdvancedCommerceRequestResponse
    public static let service = SignerService.name
    public static let name = "SignAdvancedCommerceRequest"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Lists the signing keys with their public keys.
  public enum ListSigningKeys: RPCMethod {
    public typealias Request = ListSigningKeysRequest
    public typealias Response = ListSigningKeysResponse
    public static let service = SignerService.name
    public static let name = "ListSigningKeys"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
