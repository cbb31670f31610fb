// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Detects and recovers missed App Store notifications, and queries Apple.
public enum NotificationRecoveryService {
  /// The full RPC name.
  public static let name = "attribution.recovery.v1.NotificationRecoveryService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    StartRecovery.self,
    GetRecovery.self,
    ListRecoveries.self,
    CancelRecovery.self,
    ListGaps.self,
    RequestTestNotification.self,
    GetTestNotificationStatus.self,
    GetSubscriptionStatuses.self,
    GetTransactionHistory.self,
    GetTransactionInfo.self,
    LookUpOrder.self,
    GetRefundHistory.self,
    GetAppTransactionInfo.self,
    ExtendSubscriptionRenewalDate.self,
    ExtendRenewalDatesForAllSubscribers.self,
    GetRenewalDateExtensionStatus.self,
    SendConsumptionInformation.self,
    SetAppAccountToken.self,
    FinishTransaction.self,
    MigrateReceipts.self,
    GetMigration.self,
    ListMigrations.self,
    ListMigrationFailures.self,
    CancelMigration.self,
  ]

  /// Starts a recovery of the notifications of a time range. Answers without waiting for it.
  public enum StartRecovery: RPCMethod {
    public typealias Request = StartRecoveryRequest
    public typealias Response = StartRecoveryResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "StartRecovery"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The state and the progress of a recovery.
  public enum GetRecovery: RPCMethod {
    public typealias Request = GetRecoveryRequest
    public typealias Response = GetRecoveryResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetRecovery"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The recoveries, newest first.
  public enum ListRecoveries: RPCMethod {
    public typealias Request = ListRecoveriesRequest
    public typealias Response = ListRecoveriesResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "ListRecoveries"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Stops a recovery.
  public enum CancelRecovery: RPCMethod {
    public typealias Request = CancelRecoveryRequest
    public typealias Response = CancelRecoveryResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "CancelRecovery"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Gaps: missing steps in subscriptions' histories.
  public enum ListGaps: RPCMethod {
    public typealias Request = ListGapsRequest
    public typealias Response = ListGapsResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "ListGaps"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Request a Test Notification.
  public enum RequestTestNotification: RPCMethod {
    public typealias Request = RequestTestNotificationRequest
    public typealias Response = RequestTestNotificationResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "RequestTestNotification"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Test Notification Status; not_found while Apple has no status: call it 2, 5, 15, 30 s after the request, then give up.
  public enum GetTestNotificationStatus: RPCMethod {
    public typealias Request = GetTestNotificationStatusRequest
    public typealias Response = GetTestNotificationStatusResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetTestNotificationStatus"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get All Subscription Statuses.
  public enum GetSubscriptionStatuses: RPCMethod {
    public typealias Request = GetSubscriptionStatusesRequest
    public typealias Response = GetSubscriptionStatusesResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetSubscriptionStatuses"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Transaction History, version 2.
  public enum GetTransactionHistory: RPCMethod {
    public typealias Request = GetTransactionHistoryRequest
    public typealias Response = GetTransactionHistoryResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetTransactionHistory"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Transaction Info.
  public enum GetTransactionInfo: RPCMethod {
    public typealias Request = GetTransactionInfoRequest
    public typealias Response = GetTransactionInfoResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetTransactionInfo"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Look Up Order ID; production only.
  public enum LookUpOrder: RPCMethod {
    public typealias Request = LookUpOrderRequest
    public typealias Response = LookUpOrderResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "LookUpOrder"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Refund History, version 2.
  public enum GetRefundHistory: RPCMethod {
    public typealias Request = GetRefundHistoryRequest
    public typealias Response = GetRefundHistoryResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetRefundHistory"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get App Transaction Info.
  public enum GetAppTransactionInfo: RPCMethod {
    public typealias Request = GetAppTransactionInfoRequest
    public typealias Response = GetAppTransactionInfoResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetAppTransactionInfo"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Extend a Subscription Renewal Date.
  public enum ExtendSubscriptionRenewalDate: RPCMethod {
    public typealias Request = ExtendSubscriptionRenewalDateRequest
    public typealias Response = ExtendSubscriptionRenewalDateResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "ExtendSubscriptionRenewalDate"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Extend Subscription Renewal Dates for All Active Subscribers.
  public enum ExtendRenewalDatesForAllSubscribers: RPCMethod {
    public typealias Request = ExtendRenewalDatesForAllSubscribersRequest
    public typealias Response = ExtendRenewalDatesForAllSubscribersResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "ExtendRenewalDatesForAllSubscribers"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Status of Subscription Renewal Date Extensions.
  public enum GetRenewalDateExtensionStatus: RPCMethod {
    public typealias Request = GetRenewalDateExtensionStatusRequest
    public typealias Response = GetRenewalDateExtensionStatusResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetRenewalDateExtensionStatus"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Send Consumption Information, within twelve hours of a CONSUMPTION_REQUEST for the transaction. Without such a notification the call is
  /// refused (failed_precondition).
  public enum SendConsumptionInformation: RPCMethod {
    public typealias Request = SendConsumptionInformationRequest
    public typealias Response = SendConsumptionInformationResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "SendConsumptionInformation"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Set App Account Token.
  public enum SetAppAccountToken: RPCMethod {
    public typealias Request = SetAppAccountTokenRequest
    public typealias Response = SetAppAccountTokenResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "SetAppAccountToken"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Finish Transaction: informs the App Store that the purchase was delivered, for servers that grant entitlements.
  public enum FinishTransaction: RPCMethod {
    public typealias Request = FinishTransactionRequest
    public typealias Response = FinishTransactionResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "FinishTransaction"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Migrates from verifyReceipt: finds the transaction ids of up to 1,000 receipts and answers. The histories and statuses are published on the
  /// feed afterwards.
  public enum MigrateReceipts: RPCMethod {
    public typealias Request = MigrateReceiptsRequest
    public typealias Response = MigrateReceiptsResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "MigrateReceipts"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = true
  }

  /// The state and the progress of a migration.
  public enum GetMigration: RPCMethod {
    public typealias Request = GetMigrationRequest
    public typealias Response = GetMigrationResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "GetMigration"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The migrations, newest first.
  public enum ListMigrations: RPCMethod {
    public typealias Request = ListMigrationsRequest
    public typealias Response = ListMigrationsResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "ListMigrations"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The receipts of a migration that could not be migrated, and why.
  public enum ListMigrationFailures: RPCMethod {
    public typealias Request = ListMigrationFailuresRequest
    public typealias Response = ListMigrationFailuresResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "ListMigrationFailures"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Ends a migration: Apple is not queried for the receipts that still wait. A migration without waiting receipts is not changed.
  public enum CancelMigration: RPCMethod {
    public typealias Request = CancelMigrationRequest
    public typealias Response = CancelMigrationResponse
    public static let service = NotificationRecoveryService.name
    public static let name = "CancelMigration"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
