import WireJSON

/// An auto-renewable subscription and its life cycle. It has no clock and no random numbers: dates and new identifiers are passed in.
/// ``apply(_:at:newID:)`` applies a step; ``StoryPlayer`` applies several.
public struct SimulatedSubscription: Sendable {
  /// A day in milliseconds.
  static let day: Int64 = 86_400_000
  /// The duration of the grace period.
  static let graceDays: Int64 = 16
  /// The time after the end of the period for which Apple tries to bill again.
  static let retryDays: Int64 = 60

  /// The type and the subtype of the notification that a step causes.
  public struct Event: Sendable, Equatable {
    public var type: String
    public var subtype: String?
  }

  var bundleID: String
  var environment: AppStoreEnvironment
  var productID: String
  var groupID: String
  var appTransactionID: String
  var appAccountToken: String?
  var periodDays: Int64 = 30
  /// In thousandths of the currency.
  var price: Int64 = 9990
  /// The data of the Advanced Commerce API (*advancedCommerceRenewalInfo*); nil for an In-App Purchase.
  var commerce: JSONObject?
  /// The number of billing periods in one commitment; nil for a subscription without a commitment.
  var commitmentPeriods: Int64?
  /// The SKUs for which data of the Advanced Commerce API is generated; unused if `commerce` is set.
  var skus: [String] = []

  private(set) var transactions: [TransactionFacts] = []
  /// Apple's status: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked. 0 before the purchase.
  private(set) var status = 0
  private(set) var autoRenews = true
  private(set) var renewalProductID: String
  private(set) var graceEnd: Int64?
  private(set) var expirationIntent: Int64?
  private(set) var priceIncreaseStatus: Int64?
  /// The date of the last step, in milliseconds since 1970.
  private(set) var lastDate: Int64 = 0
  /// The dates of extensions of the renewal date; Apple permits two in 365 days.
  private(set) var extensionDates: [Int64] = []

  init(bundleID: String, environment: AppStoreEnvironment, productID: String, groupID: String, appTransactionID: String) {
    self.bundleID = bundleID
    self.environment = environment
    self.productID = productID
    self.groupID = groupID
    self.appTransactionID = appTransactionID
    renewalProductID = productID
  }

  var originalID: String { transactions.first?.id ?? "" }
  /// The transaction of the current or last period.
  var current: TransactionFacts { transactions[transactions.count - 1] }

  /// The usual date of a step after the previous one, in milliseconds since 1970.
  func usualDate(of step: StoryStep) -> Int64 {
    guard !transactions.isEmpty else { return lastDate }
    let expires = current.expiresDate
    switch step {
    case .buy: return lastDate
    case .renew, .fail, .grace: return max(lastDate, expires)
    case .graceExpired: return max(lastDate, graceEnd ?? lastDate + Self.graceDays * Self.day)
    case .expire: return max(lastDate, status == 3 ? expires + Self.retryDays * Self.day : expires)
    case .resubscribe: return lastDate + 3 * Self.day
    case .cancel where status == 1: return max(lastDate + 3600_000, current.purchaseDate + periodDays / 2 * Self.day)
    default: return lastDate + Self.day
    }
  }

  /// Applies a step. Throws ``PostbackError`` if the step is not possible in the current state.
  mutating func apply(_ step: StoryStep, at date: Int64, newID: () -> String) throws -> Event {
    guard step == .buy || !transactions.isEmpty else {
      throw PostbackError("\(step.rawValue): nothing has been bought yet")
    }
    lastDate = date
    switch step {
    case .buy:
      guard transactions.isEmpty else { throw PostbackError("buy: is bought already; resubscribe after expire") }
      start(at: date, reason: "PURCHASE", newID: newID)
      return Event(type: "SUBSCRIBED", subtype: "INITIAL_BUY")
    case .resubscribe:
      start(at: date, reason: "PURCHASE", newID: newID)
      return Event(type: "SUBSCRIBED", subtype: "RESUBSCRIBE")
    case .renew:
      productID = renewalProductID
      start(at: max(current.expiresDate, 1), reason: "RENEWAL", newID: newID)
      return Event(type: "DID_RENEW")
    case .recover:
      // After a recovery within the grace period the billing dates stay the same.
      start(at: status == 4 ? current.expiresDate : date, reason: "RENEWAL", newID: newID)
      return Event(type: "DID_RENEW", subtype: "BILLING_RECOVERY")
    case .offerRedeemed:
      update(date) { fields in
        fields["offerType"] = 3
        fields["offerIdentifier"] = "autumn"
        fields["offerDiscountType"] = "PAY_AS_YOU_GO"
        fields["offerPeriod"] = "P1M"
      }
      return Event(type: "OFFER_REDEEMED")
    case .upgrade:
      update(date) { $0["isUpgraded"] = true }
      productID += ".plus"
      start(at: date, reason: "PURCHASE", newID: newID)
      return Event(type: "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE")
    case .downgrade:
      renewalProductID = productID + ".lite"
      return Event(type: "DID_CHANGE_RENEWAL_PREF", subtype: "DOWNGRADE")
    case .downgradeCancelled:
      renewalProductID = productID
      return Event(type: "DID_CHANGE_RENEWAL_PREF")
    default: return try change(step, at: date)
    }
  }

  /// Applies a step that adds no transaction.
  private mutating func change(_ step: StoryStep, at date: Int64) throws -> Event {
    switch step {
    case .fail:
      status = 3
      return Event(type: "DID_FAIL_TO_RENEW")
    case .grace:
      status = 4
      graceEnd = current.expiresDate + Self.graceDays * Self.day
      return Event(type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD")
    case .graceExpired:
      status = 3
      return Event(type: "GRACE_PERIOD_EXPIRED")
    case .cancel:
      autoRenews = false
      return Event(type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED")
    case .resume:
      autoRenews = true
      return Event(type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_ENABLED")
    case .expire: return expire()
    case .refund:
      update(date) { fields in
        fields["revocationDate"] = .integer(date)
        fields["revocationReason"] = 0
        fields["revocationType"] = "REFUND_FULL"
        fields["revocationPercentage"] = 100_000
      }
      status = 5
      return Event(type: "REFUND")
    case .refundDeclined: return Event(type: "REFUND_DECLINED")
    case .refundReversed:
      guard current.revocationDate != nil else { throw PostbackError("refund-reversed: nothing is refunded") }
      update(date) { fields in
        for name in ["revocationDate", "revocationReason", "revocationType", "revocationPercentage"] {
          fields[name] = nil
        }
      }
      status = current.expiresDate > date ? 1 : 2
      return Event(type: "REFUND_REVERSED")
    case .revoke:
      update(date) { fields in
        fields["inAppOwnershipType"] = "FAMILY_SHARED"
        fields["revocationDate"] = .integer(date)
        fields["revocationReason"] = 0
        fields["revocationType"] = "FAMILY_REVOKE"
      }
      status = 5
      return Event(type: "REVOKE")
    case .extend:
      try extend(byDays: 30, at: date)
      return Event(type: "RENEWAL_EXTENDED")
    case .priceIncrease:
      priceIncreaseStatus = 0
      return Event(type: "PRICE_INCREASE", subtype: "PENDING")
    case .priceAccepted:
      priceIncreaseStatus = 1
      price += 1000
      return Event(type: "PRICE_INCREASE", subtype: "ACCEPTED")
    default: return Event(type: "CONSUMPTION_REQUEST")
    }
  }

  private mutating func expire() -> Event {
    let reason: (subtype: String, intent: Int64) =
      switch (status, autoRenews, priceIncreaseStatus) {
      case (3, true, _), (4, true, _): ("BILLING_RETRY", 2)
      case (_, false, _): ("VOLUNTARY", 1)
      case (_, _, 0): ("PRICE_INCREASE", 3)
      default: ("PRODUCT_NOT_FOR_SALE", 4)
      }
    status = 2
    autoRenews = false
    expirationIntent = reason.intent
    return Event(type: "EXPIRED", subtype: reason.subtype)
  }

  /// Extends the current period. The caller checks whether Apple would permit it.
  mutating func extend(byDays days: Int64, at date: Int64) throws {
    let expires = current.expiresDate + days * Self.day
    update(date) { $0["expiresDate"] = .integer(expires) }
    extensionDates.append(date)
    lastDate = max(lastDate, date)
  }

  /// Changes the data of the Advanced Commerce API.
  ///
  /// - Parameter isCurrent: true if the change also concerns the transaction of the current period.
  mutating func setCommerce(_ info: JSONObject, isCurrent: Bool, productID: String? = nil, at date: Int64) {
    commerce = info
    if let productID {
      self.productID = productID
      renewalProductID = productID
    }
    lastDate = max(lastDate, date)
    guard isCurrent else { return }
    // A transaction has no consistency token.
    var transactionInfo = info
    transactionInfo["consistencyToken"] = nil
    let newInfo = transactionInfo
    update(date) { fields in
      fields["advancedCommerceInfo"] = .object(newInfo)
      if let productID { fields["productId"] = .string(productID) }
    }
  }

  /// Turns automatic renewal off without an event.
  mutating func stopRenewing() { autoRenews = false }

  mutating func setAppAccountToken(_ token: String, at date: Int64) {
    appAccountToken = token
    update(date) { $0["appAccountToken"] = .string(token) }
  }

  /// Changes the current transaction.
  private mutating func update(_ date: Int64, _ change: (inout JSONObject) -> Void) {
    let last = transactions.count - 1
    change(&transactions[last].fields)
    transactions[last].modified = date
  }

  /// Starts a period with a new transaction.
  private mutating func start(at date: Int64, reason: String, newID: () -> String) {
    let id = newID()
    status = 1
    autoRenews = true
    graceEnd = nil
    expirationIntent = nil
    if reason == "PURCHASE" { renewalProductID = productID }
    var fields: JSONObject = [
      "transactionId": .string(id), "originalTransactionId": .string(transactions.first?.id ?? id),
      "webOrderLineItemId": .string(newID()), "bundleId": .string(bundleID), "productId": .string(productID),
      "subscriptionGroupIdentifier": .string(groupID), "purchaseDate": .integer(date),
      "originalPurchaseDate": .integer(transactions.first?.purchaseDate ?? date),
      "expiresDate": .integer(date + periodDays * Self.day), "quantity": 1, "type": "Auto-Renewable Subscription",
    ]
    fields["appAccountToken"] = appAccountToken.map { .string($0) }
    fields.merge([
      "inAppOwnershipType": "PURCHASED", "environment": .string(environment.rawValue),
      "transactionReason": .string(reason),
      "storefront": "USA", "storefrontId": "143441", "price": .integer(price), "currency": "USD",
      "appTransactionId": .string(appTransactionID),
    ])
    fields["billingPlanType"] = commitmentPeriods.map { _ in "MONTHLY" }
    fields["commitmentInfo"] = commitmentPeriods.map { commitment(of: $0, number: Int64(transactions.count), from: date) }
    fields["advancedCommerceInfo"] = advancedCommerce(forRenewal: false)
    transactions.append(TransactionFacts(fields: fields, modified: lastDate, orderID: "M" + newID().suffix(9)))
  }
}
