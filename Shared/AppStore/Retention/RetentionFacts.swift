/// The facts about a subscription from its history.
public struct RetentionFacts: Sendable, Hashable {
  public var status: SubscriptionStatus
  public var productId: String?
  public var subscriptionGroupId: String?
  /// ISO 3166-1, three letters.
  public var storefront: String?
  /// Thousandths of the currency.
  public var priceMilliunits: Int64?
  public var currency: String?
  public var autoRenew: Bool?
  /// The time of the first purchase, milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// Milliseconds since 1970.
  public var expiresDate: Int64?

  public init(status: SubscriptionStatus) { self.status = status }
}
