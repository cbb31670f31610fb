import WireJSON

/// The price of a period, with the product, offer and plan that it is for (JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload).
/// Prices are compared and never added, because Apple provides them for display only.
public struct SubscriptionPrice: Sendable, Hashable {
  /// The price in thousandths of the currency's unit.
  public let milliunits: Int64
  public let currency: String?
  public let productId: String
  /// The offer to which the price belongs, as `offerType:offerIdentifier`; nil for the regular price.
  public let offer: String?
  /// `billingPlanType` or `renewalBillingPlanType`.
  public let billingPlan: String?

  public init(milliunits: Int64, currency: String?, productId: String, offer: String? = nil, billingPlan: String? = nil) {
    self.milliunits = milliunits
    self.currency = currency
    self.productId = productId
    self.offer = offer
    self.billingPlan = billingPlan
  }

  /// True if the other price is higher and comparable, with the same product, currency, offer and billing plan.
  func isRaised(to other: SubscriptionPrice) -> Bool {
    currency == other.currency && productId == other.productId && offer == other.offer && billingPlan == other.billingPlan
      && other.milliunits > milliunits
  }
}

extension SubscriptionPrice {
  /// The price of a decoded transaction. Nil if it has none, if it is for several seats, and with the Advanced Commerce API, where the
  /// app's owner sets prices.
  init?(transaction object: JSONObject) {
    guard object["quantity"]?.int64Value ?? 1 == 1 else { return nil }
    self.init(object, price: "price", product: "productId", plan: "billingPlanType")
  }

  /// The price of the next period in decoded renewal information. Nil if it has none, and with the Advanced Commerce API.
  init?(renewal object: JSONObject) {
    self.init(object, price: "renewalPrice", product: "autoRenewProductId", plan: "renewalBillingPlanType")
  }

  private init?(_ object: JSONObject, price: String, product: String, plan: String) {
    guard object["advancedCommerceInfo"] == nil, let milliunits = object[price]?.int64Value, let productId = object[product]?.stringValue
    else { return nil }
    let offer = object["offerType"]?.int64Value.map { "\($0):\(object["offerIdentifier"]?.stringValue ?? "")" }
    self.init(
      milliunits: milliunits, currency: object["currency"]?.stringValue, productId: productId, offer: offer,
      billingPlan: object[plan]?.stringValue)
  }

  /// The stored format.
  var json: JSONObject {
    var object: JSONObject = ["milliunits": .integer(milliunits), "productId": .string(productId)]
    object["currency"] = currency.map { .string($0) }
    object["offer"] = offer.map { .string($0) }
    object["billingPlan"] = billingPlan.map { .string($0) }
    return object
  }

  /// Parses the stored format; nil if it is invalid.
  init?(json object: JSONObject) {
    guard let milliunits = object["milliunits"]?.int64Value, let productId = object["productId"]?.stringValue else { return nil }
    self.init(
      milliunits: milliunits, currency: object["currency"]?.stringValue, productId: productId, offer: object["offer"]?.stringValue,
      billingPlan: object["billingPlan"]?.stringValue)
  }
}
