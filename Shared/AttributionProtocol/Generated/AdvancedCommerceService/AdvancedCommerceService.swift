// Made by Generator/generate.py from the contract; change the .proto file instead.

/// The server calls of Apple's Advanced Commerce API. requestReferenceId in a request's body identifies the call: a repeated call is answered from
/// its record and is never executed twice. Served by notification-recovery.
public enum AdvancedCommerceService {
  /// The full RPC name.
  public static let name = "attribution.advancedcommerce.v1.AdvancedCommerceService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    ChangeAdvancedCommerceMetadata.self,
    MigrateToAdvancedCommerce.self,
    ChangeAdvancedCommercePrice.self,
    CancelAdvancedCommerceSubscription.self,
    RevokeAdvancedCommerceSubscription.self,
    RequestAdvancedCommerceRefund.self,
    GetAdvancedCommerceCall.self,
    ListAdvancedCommerceCalls.self,
  ]

  /// Apple: Change Subscription Metadata.
  public enum ChangeAdvancedCommerceMetadata: RPCMethod {
    public typealias Request = ChangeAdvancedCommerceMetadataRequest
    public typealias Response = ChangeAdvancedCommerceMetadataResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "ChangeAdvancedCommerceMetadata"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Migrate a Subscription to Advanced Commerce API.
  public enum MigrateToAdvancedCommerce: RPCMethod {
    public typealias Request = MigrateToAdvancedCommerceRequest
    public typealias Response = MigrateToAdvancedCommerceResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "MigrateToAdvancedCommerce"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Change Subscription Price.
  public enum ChangeAdvancedCommercePrice: RPCMethod {
    public typealias Request = ChangeAdvancedCommercePriceRequest
    public typealias Response = ChangeAdvancedCommercePriceResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "ChangeAdvancedCommercePrice"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Cancel a Subscription: the subscription will not renew.
  public enum CancelAdvancedCommerceSubscription: RPCMethod {
    public typealias Request = CancelAdvancedCommerceSubscriptionRequest
    public typealias Response = CancelAdvancedCommerceSubscriptionResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "CancelAdvancedCommerceSubscription"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Revoke Subscription: the subscription ends immediately, with a refund.
  public enum RevokeAdvancedCommerceSubscription: RPCMethod {
    public typealias Request = RevokeAdvancedCommerceSubscriptionRequest
    public typealias Response = RevokeAdvancedCommerceSubscriptionResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "RevokeAdvancedCommerceSubscription"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Request Transaction Refund.
  public enum RequestAdvancedCommerceRefund: RPCMethod {
    public typealias Request = RequestAdvancedCommerceRefundRequest
    public typealias Response = RequestAdvancedCommerceRefundResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "RequestAdvancedCommerceRefund"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The state of a call, and the notifications that it caused.
  public enum GetAdvancedCommerceCall: RPCMethod {
    public typealias Request = GetAdvancedCommerceCallRequest
    public typealias Response = GetAdvancedCommerceCallResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "GetAdvancedCommerceCall"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The calls, newest first.
  public enum ListAdvancedCommerceCalls: RPCMethod {
    public typealias Request = ListAdvancedCommerceCallsRequest
    public typealias Response = ListAdvancedCommerceCallsResponse
    public static let service = AdvancedCommerceService.name
    public static let name = "ListAdvancedCommerceCalls"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
