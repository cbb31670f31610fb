import WireJSON

/// The state of a subscription after its notifications up to some time. Times are milliseconds since 1970.
public struct SubscriptionState: Sendable, Hashable {
  public internal(set) var status: SubscriptionStatus
  /// The signing time of the step that led to this status.
  public internal(set) var since: Int64
  /// Of the newest period.
  public internal(set) var transactionId: String?
  public internal(set) var productId: String?
  public internal(set) var purchaseDate: Int64?
  public internal(set) var expiresDate: Int64?
  public internal(set) var gracePeriodExpiresDate: Int64?
  public internal(set) var revocationDate: Int64?
  public internal(set) var autoRenew: Bool?
  /// The product of the next period.
  public internal(set) var autoRenewProductId: String?
  public internal(set) var subscriptionGroupId: String?
  /// Of the newest period.
  public internal(set) var storefront: String?
  /// The time of the first purchase, under the id that the newest period names.
  public internal(set) var originalPurchaseDate: Int64?
  /// The time at which Apple signed the facts of the newest period's transaction; nil if it is not known.
  var factsSignedDate: Int64?
  /// The price of the newest period, with the offer that was used.
  var price: SubscriptionPrice?
  /// The price of the next period, with the offer of that period.
  var renewalPrice: SubscriptionPrice?
  /// The next price if it is known, otherwise the last one.
  public var presentPrice: SubscriptionPrice? { renewalPrice ?? price }

  // Steps since the last start, for the rules on required earlier steps.
  var sawFailure = false
  var sawGracePeriod = false
  var sawRenewalDisabled = false
  var sawPriceIncrease = false
  /// True if a price increase was announced that has not been charged yet.
  var sawPriceNotice = false
  var sawEnd = false
  /// True if the period began while renewal was disabled, and no later step changed that setting.
  var renewedWhileOff = false
  /// The refunded transactions.
  var refunded: [String] = []
  /// The signing time of the last step.
  var lastSignedDate: Int64

  /// The longest time for which Apple retries a charge, milliseconds: sixty days; less in the sandbox.
  static let maxRetryTime: Int64 = 60 * TimeWindow.millisecondsPerDay

  /// The end of the paid period, of its grace period or of Apple's retries, if a notification must follow: a renewal, a failure or an end.
  var awaitedEnd: Int64? {
    switch status {
    case .active, .activeNotRenewing: expiresDate
    case .gracePeriod: gracePeriodExpiresDate ?? expiresDate
    case .billingRetry: (expiresDate ?? since).plus(Self.maxRetryTime)
    case .expired, .revoked, .unknownOverdue: nil
    }
  }

  /// The status at a given time. It is `unknown-overdue` if a renewal or an end was due and there was no notification.
  public func status(at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> SubscriptionStatus {
    guard let end = awaitedEnd, now > end.plus(silence) else { return status }
    return .unknownOverdue
  }

  /// True if the customer has access at a given time; nil if the app's owner decides, because a renewal was due and there was no
  /// notification. If a commitment of several periods is cancelled, its periods still renew (``SubscriptionFold``), and access follows
  /// `expiresDate` all the same. Access without renewal, and in a grace period, ends at the date that Apple named, also without a notification.
  public func hasAccess(at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> Bool? {
    let end: Int64? =
      switch status {
      case .activeNotRenewing: expiresDate
      case .gracePeriod: gracePeriodExpiresDate
      case .active, .billingRetry, .expired, .revoked, .unknownOverdue: nil
      }
    if let end, now >= end { return false }
    return status(at: now, silence: silence).hasAccess
  }

  /// The start of the status at a given time. For an overdue one, it is the time from which silence was a gap.
  public func since(at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> Int64 {
    guard status(at: now, silence: silence) == .unknownOverdue, let end = awaitedEnd else { return since }
    return end.plus(silence)
  }

  /// The state before the first step: `active`, which the first step corrects.
  init(first step: LifecycleStep) {
    status = .active
    since = step.signedDate
    lastSignedDate = step.signedDate
  }
}

extension SubscriptionState {
  /// The stored form.
  var json: JSONObject {
    var object: JSONObject = [
      "status": .string(status.rawValue), "since": .integer(since), "lastSignedDate": .integer(lastSignedDate),
      "saw": .array(
        [
          (sawFailure, "failure"), (sawGracePeriod, "grace"), (sawRenewalDisabled, "disabled"), (sawPriceIncrease, "price"),
          (sawEnd, "end"), (sawPriceNotice, "priceNotice"), (renewedWhileOff, "renewedWhileOff"),
        ].filter(\.0).map { .string($0.1) }),
      "refunded": .array(refunded.map { .string($0) }),
    ]
    object["transactionId"] = transactionId.map { .string($0) }
    object["productId"] = productId.map { .string($0) }
    object["purchaseDate"] = purchaseDate.map { .integer($0) }
    object["expiresDate"] = expiresDate.map { .integer($0) }
    object["gracePeriodExpiresDate"] = gracePeriodExpiresDate.map { .integer($0) }
    object["revocationDate"] = revocationDate.map { .integer($0) }
    object["autoRenew"] = autoRenew.map { .bool($0) }
    object["autoRenewProductId"] = autoRenewProductId.map { .string($0) }
    object["subscriptionGroupId"] = subscriptionGroupId.map { .string($0) }
    object["storefront"] = storefront.map { .string($0) }
    object["originalPurchaseDate"] = originalPurchaseDate.map { .integer($0) }
    object["factsSignedDate"] = factsSignedDate.map { .integer($0) }
    object["price"] = price.map { .object($0.json) }
    object["renewalPrice"] = renewalPrice.map { .object($0.json) }
    return object
  }

  /// Parses the stored form; nil if it is invalid.
  init?(json object: JSONObject) {
    guard let status = object["status"]?.stringValue.flatMap(SubscriptionStatus.init), let since = object["since"]?.int64Value,
      let last = object["lastSignedDate"]?.int64Value
    else { return nil }
    self.status = status
    self.since = since
    lastSignedDate = last
    transactionId = object["transactionId"]?.stringValue
    productId = object["productId"]?.stringValue
    purchaseDate = object["purchaseDate"]?.int64Value
    expiresDate = object["expiresDate"]?.int64Value
    gracePeriodExpiresDate = object["gracePeriodExpiresDate"]?.int64Value
    revocationDate = object["revocationDate"]?.int64Value
    autoRenew = object["autoRenew"]?.boolValue
    autoRenewProductId = object["autoRenewProductId"]?.stringValue
    subscriptionGroupId = object["subscriptionGroupId"]?.stringValue
    storefront = object["storefront"]?.stringValue
    originalPurchaseDate = object["originalPurchaseDate"]?.int64Value
    factsSignedDate = object["factsSignedDate"]?.int64Value
    price = object["price"]?.objectValue.flatMap { SubscriptionPrice(json: $0) }
    renewalPrice = object["renewalPrice"]?.objectValue.flatMap { SubscriptionPrice(json: $0) }
    let saw = Set(object["saw"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    sawFailure = saw.contains("failure")
    sawGracePeriod = saw.contains("grace")
    sawRenewalDisabled = saw.contains("disabled")
    sawPriceIncrease = saw.contains("price")
    sawEnd = saw.contains("end")
    sawPriceNotice = saw.contains("priceNotice")
    renewedWhileOff = saw.contains("renewedWhileOff")
    refunded = object["refunded"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}

extension Int64 {
  /// The sum, limited to the greatest value.
  func plus(_ duration: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(duration)
    return overflow ? (duration < 0 ? .min : .max) : sum
  }
}
