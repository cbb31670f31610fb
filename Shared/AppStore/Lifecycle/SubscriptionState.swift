import WireJSON

/// The state of a subscription after some of its steps. ``SubscriptionFold`` computes it step by step. Times are milliseconds since 1970.
public struct SubscriptionState: Sendable, Hashable {
  public internal(set) var status: SubscriptionStatus
  /// The signing time of the step that led to this status.
  public internal(set) var since: Int64
  // The facts of the newest period.
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
  /// The country or region, ISO 3166-1 alpha-3.
  public internal(set) var storefront: String?
  /// The time of the first purchase under the original transaction id.
  public internal(set) var originalPurchaseDate: Int64?
  /// The time at which Apple signed the facts of the newest period's transaction; nil if it is unknown.
  var factsSignedDate: Int64?
  /// True if Apple has not named the end of the newest period. Then `expiresDate` is the latest time at which it is known to be paid.
  public internal(set) var endIsAssumed = false
  /// The price of the newest period, with the offer that was used.
  var price: SubscriptionPrice?
  /// The price of the next period, with the offer of that period.
  var renewalPrice: SubscriptionPrice?
  /// The price of the next period if it is known, otherwise that of the newest one.
  public var presentPrice: SubscriptionPrice? { renewalPrice ?? price }

  // Which steps there were since the newest period began. The rules on required earlier steps need them (`SubscriptionFold+Gaps.swift`).
  var sawFailure = false
  var sawGracePeriod = false
  var sawRenewalDisabled = false
  var sawPriceIncrease = false
  /// True if a price increase was announced and has not been charged yet.
  var sawPriceNotice = false
  var sawEnd = false
  /// True if the period began while renewal was disabled, and no later step changed that setting.
  var renewedWhileOff = false
  /// The ids of the refunded transactions.
  var refunded: [String] = []
  /// The signing time of the last step.
  var lastSignedDate: Int64

  /// The longest time for which Apple retries a charge, milliseconds: sixty days. In the sandbox it is shorter.
  static let maxRetryTime: Int64 = 60 * TimeWindow.millisecondsPerDay

  /// The end of the paid period, of its grace period or of Apple's retries. After it there must be a notification of a renewal, a failure
  /// or an end. Nil if none is due.
  var awaitedEnd: Int64? {
    switch status {
    case .active, .activeNotRenewing: expiresDate
    case .gracePeriod: gracePeriodExpiresDate ?? expiresDate
    case .billingRetry: (expiresDate ?? since).plus(Self.maxRetryTime)
    case .expired, .revoked, .unknownOverdue: nil
    }
  }

  /// The time from which silence about this status counts: ``awaitedEnd``, or the end of an expired period whose end no notification
  /// announced.
  var noticeDue: Int64? { status == .expired && !sawEnd ? expiresDate : awaitedEnd }

  /// The status at a given time. It is `unknown-overdue` if a notification was due and none came within `silence` milliseconds.
  public func status(at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> SubscriptionStatus {
    guard let end = awaitedEnd, now > end.plus(silence) else { return status }
    return .unknownOverdue
  }

  /// True if the customer has access at a given time. Nil if the app's owner must decide, because a notification was due and none came.
  ///
  /// Without renewal, and in a grace period, access ends at the date that Apple named, even if there is no notification. If a commitment of
  /// several periods is cancelled, its periods are still renewed until its end; access then ends at the `expiresDate` of the newest known
  /// period.
  public func hasAccess(at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> Bool? {
    let end: Int64? =
      switch status {
      case .activeNotRenewing: endIsAssumed ? nil : expiresDate
      case .gracePeriod: gracePeriodExpiresDate
      case .active, .billingRetry, .expired, .revoked, .unknownOverdue: nil
      }
    if let end, now >= end { return false }
    return status(at: now, silence: silence).hasAccess
  }

  /// The start of the status that the subscription has at a given time. For `unknown-overdue` it is the time from which silence was a gap.
  public func since(at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> Int64 {
    guard status(at: now, silence: silence) == .unknownOverdue, let end = awaitedEnd else { return since }
    return end.plus(silence)
  }

  /// The state before the first step. Its status is `active` until that step is applied.
  init(first step: LifecycleStep) {
    status = .active
    since = step.signedDate
    lastSignedDate = step.signedDate
  }
}

extension SubscriptionState {
  /// The stored format.
  var json: JSONObject {
    var object: JSONObject = [
      "status": .string(status.rawValue), "since": .integer(since), "lastSignedDate": .integer(lastSignedDate),
      "saw": .array(
        [
          (sawFailure, "failure"), (sawGracePeriod, "grace"), (sawRenewalDisabled, "disabled"), (sawPriceIncrease, "price"),
          (sawEnd, "end"), (sawPriceNotice, "priceNotice"), (renewedWhileOff, "renewedWhileOff"), (endIsAssumed, "assumedEnd"),
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

  /// Parses the stored format; nil if it is invalid.
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
    endIsAssumed = saw.contains("assumedEnd")
    refunded = object["refunded"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}

extension Int64 {
  /// The sum. If it overflows, the greatest or the least value.
  func plus(_ duration: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(duration)
    return overflow ? (duration < 0 ? .min : .max) : sum
  }
}
