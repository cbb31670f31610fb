// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Proves what Apple signed. A verdict is data: a bad signature is an answer with valid false and a reason, not an error.
public struct VerifierServiceClient: Sendable {
  /// What carries the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Judges a SKAdNetwork postback.
  public func verifySKAdNetworkPostback(_ request: VerifySKAdNetworkPostbackRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifySKAdNetworkPostbackResponse
  {
    try await rpc.call(VerifierService.VerifySKAdNetworkPostback.self, request, options)
  }

  /// Judges an AdAttributionKit postback.
  public func verifyAdAttributionKitPostback(_ request: VerifyAdAttributionKitPostbackRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifyAdAttributionKitPostbackResponse
  {
    try await rpc.call(VerifierService.VerifyAdAttributionKitPostback.self, request, options)
  }

  /// Judges a JWS of the App Store.
  public func verifyAppStoreSignedData(_ request: VerifyAppStoreSignedDataRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifyAppStoreSignedDataResponse
  {
    try await rpc.call(VerifierService.VerifyAppStoreSignedData.self, request, options)
  }

  /// The present state of a subscription and the notifications it came from.
  public func getSubscriptionState(_ request: GetSubscriptionStateRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetSubscriptionStateResponse
  {
    try await rpc.call(VerifierService.GetSubscriptionState.self, request, options)
  }

  /// Judges a SKAdNetwork impression that one of our keys signed.
  public func verifySKAdNetworkImpression(_ request: VerifySKAdNetworkImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifySKAdNetworkImpressionResponse
  {
    try await rpc.call(VerifierService.VerifySKAdNetworkImpression.self, request, options)
  }

  /// Judges an AdAttributionKit impression that one of our keys signed.
  public func verifyAdAttributionKitImpression(_ request: VerifyAdAttributionKitImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifyAdAttributionKitImpressionResponse
  {
    try await rpc.call(VerifierService.VerifyAdAttributionKitImpression.self, request, options)
  }

  /// Judges up to 1,000 things; results in the order of the items.
  public func verifyBatch(_ request: VerifyBatchRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> VerifyBatchResponse
  {
    try await rpc.call(VerifierService.VerifyBatch.self, request, options)
  }

  /// Finds transaction ids in receipts, without verifying them: for use as input to Apple's API only.
  public func extractTransactionIds(_ request: ExtractTransactionIdsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ExtractTransactionIdsResponse
  {
    try await rpc.call(VerifierService.ExtractTransactionIds.self, request, options)
  }

  /// Reads the external purchase token that StoreKit gave an app or appended to a website's URL. Apple does not sign it: what it says is its
  /// holder's word.
  public func decodeExternalPurchaseToken(_ request: DecodeExternalPurchaseTokenRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> DecodeExternalPurchaseTokenResponse
  {
    try await rpc.call(VerifierService.DecodeExternalPurchaseToken.self, request, options)
  }

  /// How deliveries ended over time: for plots, not for bills, since what a process has counted when it is killed is lost.
  public func getDeliveryCounts(_ request: GetDeliveryCountsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetDeliveryCountsResponse
  {
    try await rpc.call(VerifierService.GetDeliveryCounts.self, request, options)
  }

  /// What deliveries of production that were proved said: conversion values, source identifiers, types of notifications.
  public func getValueCounts(_ request: GetValueCountsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetValueCountsResponse
  {
    try await rpc.call(VerifierService.GetValueCounts.self, request, options)
  }
}
