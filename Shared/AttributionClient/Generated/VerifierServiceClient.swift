// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Verifies what Apple signed. A verdict is data: for a bad signature, the answer has valid false and a reason; it is not an error.
public struct VerifierServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Verifies a SKAdNetwork postback.
  public func verifySKAdNetworkPostback(_ request: VerifySKAdNetworkPostbackRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifySKAdNetworkPostbackResponse
  {
    try await rpc.call(VerifierService.VerifySKAdNetworkPostback.self, request, options)
  }

  /// Verifies an AdAttributionKit postback.
  public func verifyAdAttributionKitPostback(_ request: VerifyAdAttributionKitPostbackRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifyAdAttributionKitPostbackResponse
  {
    try await rpc.call(VerifierService.VerifyAdAttributionKitPostback.self, request, options)
  }

  /// Verifies a JWS of the App Store.
  public func verifyAppStoreSignedData(_ request: VerifyAppStoreSignedDataRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifyAppStoreSignedDataResponse
  {
    try await rpc.call(VerifierService.VerifyAppStoreSignedData.self, request, options)
  }

  /// The current state of a subscription and the notifications from which it follows.
  public func getSubscriptionState(_ request: GetSubscriptionStateRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetSubscriptionStateResponse
  {
    try await rpc.call(VerifierService.GetSubscriptionState.self, request, options)
  }

  /// The current state of a one-time purchase: of a consumable, a non-consumable or a non-renewing subscription.
  public func getOneTimePurchaseState(_ request: GetOneTimePurchaseStateRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetOneTimePurchaseStateResponse
  {
    try await rpc.call(VerifierService.GetOneTimePurchaseState.self, request, options)
  }

  /// Verifies a SKAdNetwork impression that was signed with one of signer's keys.
  public func verifySKAdNetworkImpression(_ request: VerifySKAdNetworkImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifySKAdNetworkImpressionResponse
  {
    try await rpc.call(VerifierService.VerifySKAdNetworkImpression.self, request, options)
  }

  /// Verifies an AdAttributionKit impression that was signed with one of signer's keys. Its header must have no members other than alg and kid.
  public func verifyAdAttributionKitImpression(_ request: VerifyAdAttributionKitImpressionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> VerifyAdAttributionKitImpressionResponse
  {
    try await rpc.call(VerifierService.VerifyAdAttributionKitImpression.self, request, options)
  }

  /// Verifies up to 1,000 items; the results are in the order of the items.
  public func verifyBatch(_ request: VerifyBatchRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> VerifyBatchResponse
  {
    try await rpc.call(VerifierService.VerifyBatch.self, request, options)
  }

  /// Finds transaction ids in receipts, without verifying them. Use them only in calls to Apple's API.
  public func extractTransactionIds(_ request: ExtractTransactionIdsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ExtractTransactionIdsResponse
  {
    try await rpc.call(VerifierService.ExtractTransactionIds.self, request, options)
  }

  /// Decodes an external purchase token that StoreKit gave an app or appended to a website's URL. Apple does not sign these tokens, so the content
  /// is not verified.
  public func decodeExternalPurchaseToken(_ request: DecodeExternalPurchaseTokenRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> DecodeExternalPurchaseTokenResponse
  {
    try await rpc.call(VerifierService.DecodeExternalPurchaseToken.self, request, options)
  }

  /// The number of deliveries by outcome over time. For plots, not for billing: the counts that a process has not stored are lost if it is killed.
  public func getDeliveryCounts(_ request: GetDeliveryCountsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetDeliveryCountsResponse
  {
    try await rpc.call(VerifierService.GetDeliveryCounts.self, request, options)
  }

  /// The values in verified production deliveries: conversion values, source identifiers, types of notifications.
  public func getValueCounts(_ request: GetValueCountsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetValueCountsResponse
  {
    try await rpc.call(VerifierService.GetValueCounts.self, request, options)
  }
}
