// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// The server calls of Apple's Advanced Commerce API. requestReferenceId in a request's body identifies the call: a repeated call is answered from
/// its record and is never executed twice. Served by notification-recovery.
public struct AdvancedCommerceServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Apple: Change Subscription Metadata.
  public func changeAdvancedCommerceMetadata(_ request: ChangeAdvancedCommerceMetadataRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> ChangeAdvancedCommerceMetadataResponse
  {
    try await rpc.call(AdvancedCommerceService.ChangeAdvancedCommerceMetadata.self, request, options)
  }

  /// Apple: Migrate a Subscription to Advanced Commerce API.
  public func migrateToAdvancedCommerce(_ request: MigrateToAdvancedCommerceRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> MigrateToAdvancedCommerceResponse
  {
    try await rpc.call(AdvancedCommerceService.MigrateToAdvancedCommerce.self, request, options)
  }

  /// Apple: Change Subscription Price.
  public func changeAdvancedCommercePrice(_ request: ChangeAdvancedCommercePriceRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> ChangeAdvancedCommercePriceResponse
  {
    try await rpc.call(AdvancedCommerceService.ChangeAdvancedCommercePrice.self, request, options)
  }

  /// Apple: Cancel a Subscription: the subscription will not renew.
  public func cancelAdvancedCommerceSubscription(_ request: CancelAdvancedCommerceSubscriptionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> CancelAdvancedCommerceSubscriptionResponse
  {
    try await rpc.call(AdvancedCommerceService.CancelAdvancedCommerceSubscription.self, request, options)
  }

  /// Apple: Revoke Subscription: the subscription ends immediately, with a refund.
  public func revokeAdvancedCommerceSubscription(_ request: RevokeAdvancedCommerceSubscriptionRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> RevokeAdvancedCommerceSubscriptionResponse
  {
    try await rpc.call(AdvancedCommerceService.RevokeAdvancedCommerceSubscription.self, request, options)
  }

  /// Apple: Request Transaction Refund.
  public func requestAdvancedCommerceRefund(_ request: RequestAdvancedCommerceRefundRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> RequestAdvancedCommerceRefundResponse
  {
    try await rpc.call(AdvancedCommerceService.RequestAdvancedCommerceRefund.self, request, options)
  }

  /// The state of a call, and the notifications that it caused.
  public func getAdvancedCommerceCall(_ request: GetAdvancedCommerceCallRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetAdvancedCommerceCallResponse
  {
    try await rpc.call(AdvancedCommerceService.GetAdvancedCommerceCall.self, request, options)
  }

  /// The calls, newest first.
  public func listAdvancedCommerceCalls(_ request: ListAdvancedCommerceCallsRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> ListAdvancedCommerceCallsResponse
  {
    try await rpc.call(AdvancedCommerceService.ListAdvancedCommerceCalls.self, request, options)
  }
}
