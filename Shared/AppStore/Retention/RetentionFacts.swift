/// The facts about a subscription that rules can use (``RetentionConditions``), from its history.
public struct RetentionFacts: Sendable, Hashable {
  public var status: SubscriptionStatus
  public var productId: String?
  public var subscriptionGroupId: String?
  /// ISO 3166-1 alpha-3.
  public var storefront: String?
  /// The price in thousandths of the currency's unit.
  public var priceMilliunits: Int64?
  public var currency: String?
  public var autoRenew: Bool?
  /// The time of the first purchase, milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// The end of the current period, milliseconds since 1970.
  public var expiresDate: Int64?

  public init(status: SubscriptionStatus) { self.status = status }
}
