/// The subtypes that each type of notification can have (*notificationType*, *subtype*). An empty string stands for no subtype.
public enum NotificationKinds {
  static let subtypes: [String: Set<String>] = [
    "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
    "DID_RENEW": ["", "BILLING_RECOVERY"],
    "DID_CHANGE_RENEWAL_PREF": ["", "UPGRADE", "DOWNGRADE"],
    "DID_CHANGE_RENEWAL_STATUS": ["", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
    "OFFER_REDEEMED": ["", "UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"],
    "DID_FAIL_TO_RENEW": ["", "GRACE_PERIOD"],
    "GRACE_PERIOD_EXPIRED": [""],
    "EXPIRED": ["", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
    "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
    "REFUND": [""], "REFUND_DECLINED": [""], "REFUND_REVERSED": [""],
    "CONSUMPTION_REQUEST": [""],
    "REVOKE": [""],
    "RENEWAL_EXTENDED": [""],
    "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
    "ONE_TIME_CHARGE": [""],
    "EXTERNAL_PURCHASE_TOKEN": ["CREATED", "ACTIVE_TOKEN_REMINDER", "UNREPORTED"],
    "RESCIND_CONSENT": [""],
    "METADATA_UPDATE": [""], "MIGRATION": [""], "PRICE_CHANGE": [""],
    "TEST": [""],
  ]

  public static func exist(type: String, subtype: String?) -> Bool { subtypes[type]?.contains(subtype ?? "") ?? false }
}
