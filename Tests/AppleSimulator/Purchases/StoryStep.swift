/// A step in the life cycle of a subscription.
public enum StoryStep: String, Sendable, CaseIterable {
  case buy, renew, fail, grace, recover, cancel, resume, expire, resubscribe, refund, revoke, upgrade, downgrade, extend
  case graceExpired = "grace-expired"
  case refundDeclined = "refund-declined"
  case refundReversed = "refund-reversed"
  case downgradeCancelled = "downgrade-cancelled"
  case offerRedeemed = "offer-redeemed"
  case consumptionRequest = "consumption-request"
  case priceIncrease = "price-increase"
  case priceAccepted = "price-accepted"

  /// The steps after which a new subscription has the state for a notification of this kind. Usually the last step causes the notification.
  /// Nil for kinds that do not concern a subscription.
  static func leading(to type: String, _ subtype: String?) -> [StoryStep]? {
    switch (type, subtype ?? "") {
    case ("SUBSCRIBED", "RESUBSCRIBE"): [.buy, .cancel, .expire, .resubscribe]
    case ("SUBSCRIBED", _): [.buy]
    case ("DID_RENEW", "BILLING_RECOVERY"): [.buy, .grace, .recover]
    case ("DID_RENEW", _): [.buy, .renew]
    case ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"): [.buy, .upgrade]
    case ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"): [.buy, .downgrade]
    case ("DID_CHANGE_RENEWAL_PREF", _): [.buy, .downgrade, .downgradeCancelled]
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): [.buy, .cancel, .resume]
    case ("DID_CHANGE_RENEWAL_STATUS", _): [.buy, .cancel]
    case ("OFFER_REDEEMED", "UPGRADE"): [.buy, .upgrade]
    case ("OFFER_REDEEMED", "DOWNGRADE"): [.buy, .downgrade]
    case ("OFFER_REDEEMED", _): [.buy, .offerRedeemed]
    case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): [.buy, .grace]
    case ("DID_FAIL_TO_RENEW", _): [.buy, .fail]
    case ("GRACE_PERIOD_EXPIRED", _): [.buy, .grace, .graceExpired]
    case ("EXPIRED", "BILLING_RETRY"): [.buy, .fail, .expire]
    case ("EXPIRED", "PRICE_INCREASE"): [.buy, .priceIncrease, .expire]
    case ("EXPIRED", "PRODUCT_NOT_FOR_SALE"): [.buy, .expire]
    case ("EXPIRED", _): [.buy, .cancel, .expire]
    case ("PRICE_INCREASE", "ACCEPTED"): [.buy, .priceIncrease, .priceAccepted]
    case ("PRICE_INCREASE", _): [.buy, .priceIncrease]
    case ("REFUND", _): [.buy, .refund]
    case ("REFUND_DECLINED", _): [.buy, .consumptionRequest, .refundDeclined]
    case ("REFUND_REVERSED", _): [.buy, .refund, .refundReversed]
    case ("CONSUMPTION_REQUEST", _): [.buy, .consumptionRequest]
    case ("REVOKE", _): [.buy, .revoke]
    case ("RENEWAL_EXTENDED", _): [.buy, .extend]
    case ("ONE_TIME_CHARGE", _), ("TEST", _), ("RENEWAL_EXTENSION", "SUMMARY"), ("EXTERNAL_PURCHASE_TOKEN", _),
      ("RESCIND_CONSENT", _):
      nil
    default: [.buy]
    }
  }
}
