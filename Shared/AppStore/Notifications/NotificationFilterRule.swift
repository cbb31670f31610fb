/// The valid filters of a notification history: pairs of a type and a subtype that exist (*notificationType*, *subtype*). Apple refuses
/// others (4000018). A type that never comes without a subtype finds nothing without one.
enum NotificationFilterRule {
  /// The subtypes of a type, and whether it also comes without one.
  private struct Kinds {
    let subtypes: [String]
    let isBare: Bool
    /// True if there may be subtypes that Apple does not list.
    let isOpen: Bool

    init(_ subtypes: String..., isBare: Bool = true, isOpen: Bool = false) {
      self.subtypes = subtypes
      self.isBare = isBare
      self.isOpen = isOpen
    }
  }

  private static let known: [String: Kinds] = [
    "CONSUMPTION_REQUEST": Kinds(),
    "DID_CHANGE_RENEWAL_PREF": Kinds("UPGRADE", "DOWNGRADE"),
    "DID_CHANGE_RENEWAL_STATUS": Kinds("AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"),
    "DID_FAIL_TO_RENEW": Kinds("GRACE_PERIOD"),
    "DID_RENEW": Kinds("BILLING_RECOVERY"),
    "EXPIRED": Kinds("VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"),
    "EXTERNAL_PURCHASE_TOKEN": Kinds("CREATED", "ACTIVE_TOKEN_REMINDER", "UNREPORTED", isBare: false),
    "GRACE_PERIOD_EXPIRED": Kinds(),
    // Of the Advanced Commerce API. Apple's changelog calls the second one MIGRATE.
    "METADATA_UPDATE": Kinds(isOpen: true), "MIGRATION": Kinds(isOpen: true), "MIGRATE": Kinds(isOpen: true),
    "PRICE_CHANGE": Kinds(isOpen: true),
    // The last two until January 2024.
    "OFFER_REDEEMED": Kinds("UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"),
    "ONE_TIME_CHARGE": Kinds(),
    "PRICE_INCREASE": Kinds("PENDING", "ACCEPTED", isBare: false),
    "REFUND": Kinds(), "REFUND_DECLINED": Kinds(), "REFUND_REVERSED": Kinds(),
    "RENEWAL_EXTENDED": Kinds(),
    "RENEWAL_EXTENSION": Kinds("SUMMARY", "FAILURE", isBare: false),
    "RESCIND_CONSENT": Kinds(),
    "REVOKE": Kinds(),
    "SUBSCRIBED": Kinds("INITIAL_BUY", "RESUBSCRIBE", isBare: false),
    "TEST": Kinds(),
  ]

  /// Throws for a pair that cannot exist. An unknown type, or one whose subtypes Apple does not list, is left to Apple.
  static func check(type: String?, subtype: String?) throws(RequestRefusal) {
    guard let type, let kinds = known[type] else { return }
    let list = kinds.subtypes.joined(separator: ", ")
    guard let subtype else {
      if kinds.isBare { return }
      throw RequestRefusal(field: "notificationSubtype", "must be given: \(type) comes only with one of \(list)")
    }
    guard kinds.isOpen || kinds.subtypes.contains(subtype) else {
      throw RequestRefusal(
        field: "notificationSubtype", list.isEmpty ? "\(type) has no subtypes" : "is none of \(type): there are \(list)")
    }
  }
}
