// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Verifies what Apple signed. A verdict is data: for a bad signature, the answer has valid false and a reason; it is not an error.
public enum VerifierService {
  /// The full RPC name.
  public static let name = "attribution.verifier.v1.VerifierService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    VerifySKAdNetworkPostback.self,
    VerifyAdAttributionKitPostback.self,
    VerifyAppStoreSignedData.self,
    GetSubscriptionState.self,
    GetOneTimePurchaseState.self,
    VerifySKAdNetworkImpression.self,
    VerifyAdAttributionKitImpression.self,
    VerifyBatch.self,
    ExtractTransactionIds.self,
    DecodeExternalPurchaseToken.self,
    GetDeliveryCounts.self,
    GetValueCounts.self,
  ]

  /// Verifies a SKAdNetwork postback.
  public enum VerifySKAdNetworkPostback: RPCMethod {
    public typealias Request = VerifySKAdNetworkPostbackRequest
    public typealias Response = VerifySKAdNetworkPostbackResponse
    public static let service = VerifierService.name
    public static let name = "VerifySKAdNetworkPostback"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Verifies an AdAttributionKit postback.
  public enum VerifyAdAttributionKitPostback: RPCMethod {
    public typealias Request = VerifyAdAttributionKitPostbackRequest
    public typealias Response = VerifyAdAttributionKitPostbackResponse
    public static let service = VerifierService.name
    public static let name = "VerifyAdAttributionKitPostback"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Verifies a JWS of the App Store.
  public enum VerifyAppStoreSignedData: RPCMethod {
    public typealias Request = VerifyAppStoreSignedDataRequest
    public typealias Response = VerifyAppStoreSignedDataResponse
    public static let service = VerifierService.name
    public static let name = "VerifyAppStoreSignedData"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The current state of a subscription and the notifications from which it follows.
  public enum GetSubscriptionState: RPCMethod {
    public typealias Request = GetSubscriptionStateRequest
    public typealias Response = GetSubscriptionStateResponse
    public static let service = VerifierService.name
    public static let name = "GetSubscriptionState"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The current state of a one-time purchase: of a consumable, a non-consumable or a non-renewing subscription.
  public enum GetOneTimePurchaseState: RPCMethod {
    public typealias Request = GetOneTimePurchaseStateRequest
    public typealias Response = GetOneTimePurchaseStateResponse
    public static let service = VerifierService.name
    public static let name = "GetOneTimePurchaseState"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Verifies a SKAdNetwork impression that was signed with one of signer's keys.
  public enum VerifySKAdNetworkImpression: RPCMethod {
    public typealias Request = VerifySKAdNetworkImpressionRequest
    public typealias Response = VerifySKAdNetworkImpressionResponse
    public static let service = VerifierService.name
    public static let name = "VerifySKAdNetworkImpression"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Verifies an AdAttributionKit impression that was signed with one of signer's keys. Its header must have no members other than alg and kid.
  public enum VerifyAdAttributionKitImpression: RPCMethod {
    public typealias Request = VerifyAdAttributionKitImpressionRequest
    public typealias Response = VerifyAdAttributionKitImpressionResponse
    public static let service = VerifierService.name
    public static let name = "VerifyAdAttributionKitImpression"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Verifies up to 1,000 items; the results are in the order of the items.
  public enum VerifyBatch: RPCMethod {
    public typealias Request = VerifyBatchRequest
    public typealias Response = VerifyBatchResponse
    public static let service = VerifierService.name
    public static let name = "VerifyBatch"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = true
  }

  /// Finds transaction ids in receipts, without verifying them. Use them only in calls to Apple's API.
  public enum ExtractTransactionIds: RPCMethod {
    public typealias Request = ExtractTransactionIdsRequest
    public typealias Response = ExtractTransactionIdsResponse
    public static let service = VerifierService.name
    public static let name = "ExtractTransactionIds"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Decodes an external purchase token that StoreKit gave an app or appended to a website's URL. Apple does not sign these tokens, so the content
  /// is not verified.
  public enum DecodeExternalPurchaseToken: RPCMethod {
    public typealias Request = DecodeExternalPurchaseTokenRequest
    public typealias Response = DecodeExternalPurchaseTokenResponse
    public static let service = VerifierService.name
    public static let name = "DecodeExternalPurchaseToken"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The number of deliveries by outcome over time. For plots, not for billing: the counts that a process has not stored are lost if it is killed.
  public enum GetDeliveryCounts: RPCMethod {
    public typealias Request = GetDeliveryCountsRequest
    public typealias Response = GetDeliveryCountsResponse
    public static let service = VerifierService.name
    public static let name = "GetDeliveryCounts"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The values in verified production deliveries: conversion values, source identifiers, types of notifications.
  public enum GetValueCounts: RPCMethod {
    public typealias Request = GetValueCountsRequest
    public typealias Response = GetValueCountsResponse
    public static let service = VerifierService.name
    public static let name = "GetValueCounts"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
