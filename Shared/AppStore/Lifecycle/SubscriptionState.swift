import WireJSON

/// What the notifications up to some moment make of a subscription. Times are milliseconds since 1970.
public struct SubscriptionState: Sendable, Hashable {
  public internal(set) var status: SubscriptionStatus
  /// When it came into this status: the signing time of the step that brought it there.
  public internal(set) var since: Int64
  /// Of the newest period.
  public internal(set) var transactionId: String?
  public internal(set) var productId: String?
  public internal(set) var purchaseDate: Int64?
  public internal(set) var expiresDate: Int64?
  public internal(set) var gracePeriodExpiresDate: Int64?
  public internal(set) var revocationDate: Int64?
  public internal(set) var autoRenew: Bool?
  /// What it will be renewed as.
  public internal(set) var autoRenewProductId: String?
  public internal(set) var subscriptionGroupId: String?
  /// Of the newest period.
  public internal(set) var storefront: String?
  /// When the customer bought it first, under the id that the newest period names.
  public internal(set) var originalPurchaseDate: Int64?
  /// What the newest period was charged.
  var price: SubscriptionPrice?
  /// What the next one will be.
  var renewalPrice: SubscriptionPrice?
  /// What is to be paid next, as far as that is known; else what was paid last.
  public var presentPrice: SubscriptionPrice? { renewalPrice ?? price }

  // What has been seen since the last start, for the rules on what must have come before.
  var sawFailure = false
  var sawGracePeriod = false
  var sawRenewalDisabled = false
  var sawPriceIncrease = false
  /// Whether the customer was told of a higher price that has not been charged yet.
  var sawPriceNotice = false
  var sawEnd = false
  /// Whether the period began while renewal was off, and no switch of it was heard of since.
  var renewedWhileOff = false
  /// Transactions that were refunded.
  var refunded: [String] = []
  /// The last step's signing time.
  var lastSignedDate: Int64

  /// How long after its end silence is no longer normal, milliseconds: a day (ours).
  public static let silence: Int64 = 86_400_000

  /// The longest that Apple tries to charge for a period, milliseconds: sixty days. In the sandbox it is less.
  static let longestRetry: Int64 = 60 * 86_400_000

  /// The end of what was paid for, of the grace after it, or of Apple's attempts to charge, while something must be heard of it: a
  /// renewal, a failure, an end.
  var awaitedEnd: Int64? {
    switch status {
    case .active, .activeNotRenewing: expiresDate
    case .gracePeriod: gracePeriodExpiresDate ?? expiresDate
    case .billingRetry: (expiresDate ?? since).plus(Self.longestRetry)
    case .expired, .revoked, .unknownOverdue: nil
    }
  }

  /// The same at a given time: a subscription that should have ended or been renewed and of which nothing was heard is
  /// `unknown-overdue`.
  public func status(at now: Int64, silence: Int64 = Self.silence) -> SubscriptionStatus {
    guard let end = awaitedEnd, now > end.plus(silence) else { return status }
    return .unknownOverdue
  }

  /// When the status at a given time began: for one that is overdue, when its silence was no longer normal.
  public func since(at now: Int64, silence: Int64 = Self.silence) -> Int64 {
    guard status(at: now, silence: silence) == .unknownOverdue, let end = awaitedEnd else { return since }
    return end.plus(silence)
  }

  /// Before any step of it: `active`, which the first step corrects.
  init(first step: LifecycleStep) {
    status = .active
    since = step.signedDate
    lastSignedDate = step.signedDate
  }
}

extension SubscriptionState {
  /// The form in which it is kept.
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
    object["price"] = price.map { .object($0.json) }
    object["renewalPrice"] = renewalPrice.map { .object($0.json) }
    return object
  }

  /// Reads the form in which it is kept; nil for anything else.
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
  /// A time so much later; the last there is where there is none so late.
  func plus(_ duration: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(duration)
    return overflow ? (duration < 0 ? .min : .max) : sum
  }
}
