// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Proves what Apple signed. A verdict is data: a bad signature is an answer with valid false and a reason, not an error.
public enum VerifierService {
  /// The full RPC name.
  public static let name = "attribution.verifier.v1.VerifierService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    VerifySKAdNetworkPostback.self,
    VerifyAdAttributionKitPostback.self,
    VerifyAppStoreSignedData.self,
    GetSubscriptionState.self,
    VerifySKAdNetworkImpression.self,
    VerifyAdAttributionKitImpression.self,
    VerifyBatch.self,
    ExtractTransactionIds.self,
    DecodeExternalPurchaseToken.self,
    GetDeliveryCounts.self,
    GetValueCounts.self,
  ]

  /// Judges a SKAdNetwork postback.
  public enum VerifySKAdNetworkPostback: RPCMethod {
    public typealias Request = VerifySKAdNetworkPostbackRequest
    public typealias Response = VerifySKAdNetworkPostbackResponse
    public static let service = VerifierService.name
    public static let name = "VerifySKAdNetworkPostback"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Judges an AdAttributionKit postback.
  public enum VerifyAdAttributionKitPostback: RPCMethod {
    public typealias Request = VerifyAdAttributionKitPostbackRequest
    public typealias Response = VerifyAdAttributionKitPostbackResponse
    public static let service = VerifierService.name
    public static let name = "VerifyAdAttributionKitPostback"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Judges a JWS of the App Store.
  public enum VerifyAppStoreSignedData: RPCMethod {
    public typealias Request = VerifyAppStoreSignedDataRequest
    public typealias Response = VerifyAppStoreSignedDataResponse
    public static let service = VerifierService.name
    public static let name = "VerifyAppStoreSignedData"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The present state of a subscription and the notifications it came from.
  public enum GetSubscriptionState: RPCMethod {
    public typealias Request = GetSubscriptionStateRequest
    public typealias Response = GetSubscriptionStateResponse
    public static let service = VerifierService.name
    public static let name = "GetSubscriptionState"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Judges a SKAdNetwork impression that one of our keys signed.
  public enum VerifySKAdNetworkImpression: RPCMethod {
    public typealias Request = VerifySKAdNetworkImpressionRequest
    public typealias Response = VerifySKAdNetworkImpressionResponse
    public static let service = VerifierService.name
    public static let name = "VerifySKAdNetworkImpression"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Judges an AdAttributionKit impression that one of our keys signed.
  public enum VerifyAdAttributionKitImpression: RPCMethod {
    public typealias Request = VerifyAdAttributionKitImpressionRequest
    public typealias Response = VerifyAdAttributionKitImpressionResponse
    public static let service = VerifierService.name
    public static let name = "VerifyAdAttributionKitImpression"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Judges up to 1,000 things; results in the order of the items.
  public enum VerifyBatch: RPCMethod {
    public typealias Request = VerifyBatchRequest
    public typealias Response = VerifyBatchResponse
    public static let service = VerifierService.name
    public static let name = "VerifyBatch"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = true
  }

  /// Finds transaction ids in receipts, without verifying them: for use as input to Apple's API only.
  public enum ExtractTransactionIds: RPCMethod {
    public typealias Request = ExtractTransactionIdsRequest
    public typealias Response = ExtractTransactionIdsResponse
    public static let service = VerifierService.name
    public static let name = "ExtractTransactionIds"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Reads the external purchase token that StoreKit gave an app or appended to a website's URL. Apple does not sign it: what it says is its
  /// holder's word.
  public enum DecodeExternalPurchaseToken: RPCMethod {
    public typealias Request = DecodeExternalPurchaseTokenRequest
    public typealias Response = DecodeExternalPurchaseTokenResponse
    public static let service = VerifierService.name
    public static let name = "DecodeExternalPurchaseToken"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// How deliveries ended over time: for plots, not for bills, since what a process has counted when it is killed is lost.
  public enum GetDeliveryCounts: RPCMethod {
    public typealias Request = GetDeliveryCountsRequest
    public typealias Response = GetDeliveryCountsResponse
    public static let service = VerifierService.name
    public static let name = "GetDeliveryCounts"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// What deliveries of production that were proved said: conversion values, source identifiers, types of notifications.
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
