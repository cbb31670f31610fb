// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Detects and recovers missed App Store notifications, and queries Apple.
public struct NotificationRecoveryServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Starts a recovery of the notifications of a time range. Answers without waiting for it.
  public func startRecovery(_ request: StartRecoveryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> StartRecoveryResponse
  {
    try await rpc.call(NotificationRecoveryService.StartRecovery.self, request, options)
  }

  /// The state and the progress of a recovery.
  public func getRecovery(_ request: GetRecoveryRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> GetRecoveryResponse
  {
    try await rpc.call(NotificationRecoveryService.GetRecovery.self, request, options)
  }

  /// The recoveries, newest first.
  public func listRecoveries(_ request: ListRecoveriesRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListRecoveriesResponse
  {
    try await rpc.call(NotificationRecoveryService.ListRecoveries.self, request, options)
  }

  /// Stops a recovery.
  public func cancelRecovery(_ request: CancelRecoveryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> CancelRecoveryResponse
  {
    try await rpc.call(NotificationRecoveryService.CancelRecovery.self, request, options)
  }

  /// Gaps: missing steps in subscriptions' histories.
  public func listGaps(_ request: ListGapsRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ListGapsResponse {
    try await rpc.call(NotificationRecoveryService.ListGaps.self, request, options)
  }

  /// Apple: Request a Test Notification.
  public func requestTestNotification(_ request: RequestTestNotificationRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> RequestTestNotificationResponse
  {
    try await rpc.call(NotificationRecoveryService.RequestTestNotification.self, request, options)
  }

  /// Apple: Get Test Notification Status; not_found while Apple has no status: call it 2, 5, 15, 30 s after the request, then give up.
  public func getTestNotificationStatus(_ request: GetTestNotificationStatusRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetTestNotificationStatusResponse
  {
    try await rpc.call(NotificationRecoveryService.GetTestNotificationStatus.self, request, options)
  }

  /// Apple: Get All Subscription Statuses.
  public func getSubscriptionStatuses(_ request: GetSubscriptionStatusesRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetSubscriptionStatusesResponse
  {
    try await rpc.call(NotificationRecoveryService.GetSubscriptionStatuses.self, request, options)
  }

  /// Apple: Get Transaction History, version 2.
  public func getTransactionHistory(_ request: GetTransactionHistoryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetTransactionHistoryResponse
  {
    try await rpc.call(NotificationRecoveryService.GetTransactionHistory.self, request, options)
  }

  /// Apple: Get Transaction Info.
  public func getTransactionInfo(_ request: GetTransactionInfoRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetTransactionInfoResponse
  {
    try await rpc.call(NotificationRecoveryService.GetTransactionInfo.self, request, options)
  }

  /// Apple: Look Up Order ID; production only.
  public func lookUpOrder(_ request: LookUpOrderRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> LookUpOrderResponse
  {
    try await rpc.call(NotificationRecoveryService.LookUpOrder.self, request, options)
  }

  /// Apple: Get Refund History, version 2.
  public func getRefundHistory(_ request: GetRefundHistoryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetRefundHistoryResponse
  {
    try await rpc.call(NotificationRecoveryService.GetRefundHistory.self, request, options)
  }

  /// Apple: Get App Transaction Info.
  public func getAppTransactionInfo(_ request: GetAppTransactionInfoRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetAppTransactionInfoResponse
  {
    try await rpc.call(NotificationRecoveryService.GetAppTransactionInfo.self, request, options)
  }

  /// Apple: Extend a Subscription Renewal Date.
  public func extendSubscriptionRenewalDate(_ request: ExtendSubscriptionRenewalDateRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> ExtendSubscriptionRenewalDateResponse
  {
    try await rpc.call(NotificationRecoveryService.ExtendSubscriptionRenewalDate.self, request, options)
  }

  /// Apple: Extend Subscription Renewal Dates for All Active Subscribers.
  public func extendRenewalDatesForAllSubscribers(
    _ request: ExtendRenewalDatesForAllSubscribersRequest, options: CallOptions = CallOptions()
  ) async throws(RPCError) -> ExtendRenewalDatesForAllSubscribersResponse {
    try await rpc.call(NotificationRecoveryService.ExtendRenewalDatesForAllSubscribers.self, request, options)
  }

  /// Apple: Get Status of Subscription Renewal Date Extensions.
  public func getRenewalDateExtensionStatus(_ request: GetRenewalDateExtensionStatusRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetRenewalDateExtensionStatusResponse
  {
    try await rpc.call(NotificationRecoveryService.GetRenewalDateExtensionStatus.self, request, options)
  }

  /// Apple: Send Consumption Information, within twelve hours of a CONSUMPTION_REQUEST for the transaction. Without such a notification the call is
  /// refused (failed_precondition).
  public func sendConsumptionInformation(_ request: SendConsumptionInformationRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SendConsumptionInformationResponse
  {
    try await rpc.call(NotificationRecoveryService.SendConsumptionInformation.self, request, options)
  }

  /// Apple: Set App Account Token.
  public func setAppAccountToken(_ request: SetAppAccountTokenRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SetAppAccountTokenResponse
  {
    try await rpc.call(NotificationRecoveryService.SetAppAccountToken.self, request, options)
  }

  /// Apple: Finish Transaction: informs the App Store that the purchase was delivered, for servers that grant entitlements.
  public func finishTransaction(_ request: FinishTransactionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> FinishTransactionResponse
  {
    try await rpc.call(NotificationRecoveryService.FinishTransaction.self, request, options)
  }

  /// Migrates from verifyReceipt: finds the transaction ids of up to 1,000 receipts and answers. The histories and statuses are published on the
  /// feed afterwards.
  public func migrateReceipts(_ request: MigrateReceiptsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> MigrateReceiptsResponse
  {
    try await rpc.call(NotificationRecoveryService.MigrateReceipts.self, request, options)
  }

  /// The state and the progress of a migration.
  public func getMigration(_ request: GetMigrationRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetMigrationResponse
  {
    try await rpc.call(NotificationRecoveryService.GetMigration.self, request, options)
  }

  /// The migrations, newest first.
  public func listMigrations(_ request: ListMigrationsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListMigrationsResponse
  {
    try await rpc.call(NotificationRecoveryService.ListMigrations.self, request, options)
  }

  /// The receipts of a migration that could not be migrated, and why.
  public func listMigrationFailures(_ request: ListMigrationFailuresRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListMigrationFailuresResponse
  {
    try await rpc.call(NotificationRecoveryService.ListMigrationFailures.self, request, options)
  }

  /// Ends a migration: Apple is not queried for the receipts that still wait. A migration without waiting receipts is not changed.
  public func cancelMigration(_ request: CancelMigrationRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> CancelMigrationResponse
  {
    try await rpc.call(NotificationRecoveryService.CancelMigration.self, request, options)
  }
}
