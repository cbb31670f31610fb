import AttributionQueue
import RedisClient
import ServiceRuntime

/// The handlers of all methods of `AdvancedCommerceService`.
enum CommerceHandlers {
  static func all(_ calls: AppStoreCalls, redis: RedisClient, notifications: CommerceNotifications) -> [any RPCHandler] {
    let commerce = CommerceCalls(calls: calls, store: CommerceStore(redis: redis))
    return [
      ChangeAdvancedCommerceMetadataHandler(commerce: commerce),
      MigrateToAdvancedCommerceHandler(commerce: commerce),
      ChangeAdvancedCommercePriceHandler(commerce: commerce),
      CancelAdvancedCommerceSubscriptionHandler(commerce: commerce),
      RevokeAdvancedCommerceSubscriptionHandler(commerce: commerce),
      RequestAdvancedCommerceRefundHandler(commerce: commerce),
      GetAdvancedCommerceCallHandler(commerce: commerce, notifications: notifications),
      ListAdvancedCommerceCallsHandler(store: commerce.store),
    ]
  }
}
