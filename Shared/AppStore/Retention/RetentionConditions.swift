/// The conditions of a rule, all of which must hold. A condition that is nil always holds.
public struct RetentionConditions: Sendable, Hashable {
  /// A range of prices in one currency, in thousandths of its unit.
  public struct PriceRange: Sendable, Hashable {
    public let currency: String
    public let range: Range<Int64>

    /// Throws ``RequestRefusal`` for an invalid currency or range.
    ///
    /// - Parameters:
    ///   - atLeast: the lowest price, in units of the currency; nil for no limit.
    ///   - below: the limit below which a price must be, in units of the currency; nil for no limit.
    public init(currency: String?, atLeast: Double?, below: Double?) throws(RequestRefusal) {
      guard let currency, currency.utf8.count == 3, currency.utf8.allSatisfy({ (65...90).contains($0) }) else {
        throw RequestRefusal(field: "price.currency", "must be a currency of ISO 4217, such as EUR")
      }
      self.currency = currency
      func milliunits(_ value: Double, _ field: String) throws(RequestRefusal) -> Int64 {
        guard value.isFinite, (0...1e12).contains(value) else { throw RequestRefusal(field: field, "must be 0 or more") }
        return Int64((value * 1000).rounded())
      }
      let low = try atLeast.map { value throws(RequestRefusal) in try milliunits(value, "price.atLeast") } ?? 0
      let high = try below.map { value throws(RequestRefusal) in try milliunits(value, "price.below") } ?? .max
      guard atLeast != nil || below != nil else { throw RequestRefusal(field: "price", "needs atLeast or below") }
      guard low < high else { throw RequestRefusal(field: "price.below", "must be more than atLeast") }
      range = low..<high
    }
  }

  public var environments: Set<String>?
  public var products: Set<String>?
  public var locales: [LocaleTag]?
  public var experiment: ExperimentShare?
  // The conditions from here on need the subscription's history (``RetentionFacts``).
  public var groups: Set<String>?
  public var storefronts: Set<String>?
  public var price: PriceRange?
  /// The range of the time since the first purchase, milliseconds.
  public var tenure: Range<Int64>?
  public var states: Set<SubscriptionStatus>?

  public init() {}

  /// The result of the check.
  enum Verdict: Sendable, Hashable {
    case yes, no
    /// The conditions on the request hold, but those on the history cannot be checked, because the history is unknown.
    case unknown
  }

  /// Checks the conditions at `now`, milliseconds since 1970.
  ///
  /// - Parameter facts: nil if the history is unknown, or not known yet.
  func check(_ request: RealtimeRequest, _ facts: RetentionFacts?, at now: Int64) -> Verdict {
    if let environments, !environments.contains(request.environment) { return .no }
    if let products, !products.contains(request.productId) { return .no }
    if let locales {
      guard let locale = request.locale, locales.contains(where: { locale.isWithin($0) }) else { return .no }
    }
    if let experiment, !experiment.contains(request.originalTransactionId) { return .no }
    guard groups != nil || storefronts != nil || price != nil || tenure != nil || states != nil else { return .yes }
    guard let facts else { return .unknown }
    return holds(facts, at: now) ? .yes : .no
  }

  /// True if the conditions on the history hold. A condition on a missing value does not hold.
  private func holds(_ facts: RetentionFacts, at now: Int64) -> Bool {
    if let groups {
      guard let group = facts.subscriptionGroupId, groups.contains(group) else { return false }
    }
    if let storefronts {
      guard let storefront = facts.storefront, storefronts.contains(storefront) else { return false }
    }
    if let price {
      guard let amount = facts.priceMilliunits, facts.currency == price.currency, price.range.contains(amount) else { return false }
    }
    if let tenure {
      guard let start = facts.originalPurchaseDate, tenure.contains(max(0, now.plus(-start))) else { return false }
    }
    return states.map { $0.contains(facts.status) } ?? true
  }
}
