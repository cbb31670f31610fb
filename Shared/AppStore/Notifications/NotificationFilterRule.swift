/// The valid filters of Get Notification History: the pairs of a type and a subtype that exist (notificationType, subtype). Apple refuses
/// other pairs (4000018). A filter with a type alone finds only notifications without a subtype, so it is refused here if the type always
/// has one.
enum NotificationFilterRule {
  /// The subtypes of a type.
  private struct Subtypes {
    let names: [String]
    /// True if the type also comes without a subtype.
    let mayBeAbsent: Bool
    /// True if there may be subtypes that Apple does not list.
    let mayBeOther: Bool

    init(_ names: String..., mayBeAbsent: Bool = true, mayBeOther: Bool = false) {
      self.names = names
      self.mayBeAbsent = mayBeAbsent
      self.mayBeOther = mayBeOther
    }
  }

  /// The subtypes by type.
  private static let known: [String: Subtypes] = [
    "CONSUMPTION_REQUEST": Subtypes(),
    "DID_CHANGE_RENEWAL_PREF": Subtypes("UPGRADE", "DOWNGRADE"),
    "DID_CHANGE_RENEWAL_STATUS": Subtypes("AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"),
    "DID_FAIL_TO_RENEW": Subtypes("GRACE_PERIOD"),
    "DID_RENEW": Subtypes("BILLING_RECOVERY"),
    "EXPIRED": Subtypes("VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"),
    "EXTERNAL_PURCHASE_TOKEN": Subtypes("CREATED", "ACTIVE_TOKEN_REMINDER", "UNREPORTED", mayBeAbsent: false),
    "GRACE_PERIOD_EXPIRED": Subtypes(),
    // The types of the Advanced Commerce API. Apple's libraries write MIGRATION, and its changelog MIGRATE.
    "METADATA_UPDATE": Subtypes(mayBeOther: true), "MIGRATION": Subtypes(mayBeOther: true), "MIGRATE": Subtypes(mayBeOther: true),
    "PRICE_CHANGE": Subtypes(mayBeOther: true),
    // Apple has not used INITIAL_BUY and RESUBSCRIBE with this type since January 2024.
    "OFFER_REDEEMED": Subtypes("UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"),
    "ONE_TIME_CHARGE": Subtypes(),
    "PRICE_INCREASE": Subtypes("PENDING", "ACCEPTED", mayBeAbsent: false),
    "REFUND": Subtypes(), "REFUND_DECLINED": Subtypes(), "REFUND_REVERSED": Subtypes(),
    "RENEWAL_EXTENDED": Subtypes(),
    "RENEWAL_EXTENSION": Subtypes("SUMMARY", "FAILURE", mayBeAbsent: false),
    "RESCIND_CONSENT": Subtypes(),
    "REVOKE": Subtypes(),
    "SUBSCRIBED": Subtypes("INITIAL_BUY", "RESUBSCRIBE", mayBeAbsent: false),
    "TEST": Subtypes(),
  ]

  /// True if this version knows the type.
  static func knows(type: String) -> Bool { known[type] != nil }

  /// Throws for a pair that does not exist. A type that is unknown here, and subtypes that Apple does not list, are left to Apple.
  static func check(type: String?, subtype: String?) throws(RequestRefusal) {
    guard let type, let subtypes = known[type] else { return }
    let list = subtypes.names.joined(separator: ", ")
    guard let subtype else {
      if subtypes.mayBeAbsent { return }
      throw RequestRefusal(field: "notificationSubtype", "must be given: \(type) always has one of \(list)")
    }
    guard subtypes.mayBeOther || subtypes.names.contains(subtype) else {
      throw RequestRefusal(
        field: "notificationSubtype", list.isEmpty ? "must be absent: \(type) has no subtypes" : "must be a subtype of \(type): \(list)")
    }
  }
}
