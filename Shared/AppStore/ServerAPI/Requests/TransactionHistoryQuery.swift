/// The query of Get Transaction History, version 2. From page to page only ``revision`` changes; Apple requires that the other values stay
/// the same.
public struct TransactionHistoryQuery: Sendable, Hashable {
  /// The order by time of last modification.
  public enum Sort: String, Sendable, CaseIterable {
    case ascending = "ASCENDING"
    case descending = "DESCENDING"
  }

  /// The revision in the response to the previous page; nil for the first page.
  public var revision: String?
  /// Milliseconds since 1970, inclusive.
  public var startDate: Int64?
  /// Milliseconds since 1970, exclusive.
  public var endDate: Int64?
  // The filters. A transaction must match one value of each filter.
  public var productIds: [String] = []
  public var productTypes: [String] = []
  public var subscriptionGroupIdentifiers: [String] = []
  public var inAppOwnershipType: String?
  public var sort: Sort?
  /// True for revoked transactions only, false for transactions that are not revoked, nil for both.
  public var revoked: Bool?

  /// Apple's values of `productType`.
  static let types: Set<String> = ["AUTO_RENEWABLE", "NON_RENEWABLE", "CONSUMABLE", "NON_CONSUMABLE"]
  /// Apple's values of `inAppOwnershipType`.
  static let ownerships: Set<String> = ["PURCHASED", "FAMILY_SHARED", "ASSIGNED"]

  public init() {}

  /// The names and values of the query, in order. Throws ``RequestRefusal`` for what Apple would refuse.
  public func items() throws(RequestRefusal) -> [(String, String)] {
    var items: [(String, String)] = []
    if let revision { items.append(("revision", try nonEmpty("revision", revision))) }
    if let startDate, let endDate, startDate >= endDate { throw RequestRefusal(field: "startDate", "must be before endDate") }
    for (name, date) in [("startDate", startDate), ("endDate", endDate)] {
      guard let date else { continue }
      guard date >= 0 else { throw RequestRefusal(field: name, "must be milliseconds since 1970") }
      items.append((name, String(date)))
    }
    for value in productIds { items.append(("productId", try nonEmpty("productId", value))) }
    for value in productTypes {
      guard Self.types.contains(value) else {
        throw RequestRefusal(field: "productType", "must be AUTO_RENEWABLE, NON_RENEWABLE, CONSUMABLE or NON_CONSUMABLE")
      }
      items.append(("productType", value))
    }
    for value in subscriptionGroupIdentifiers {
      items.append(("subscriptionGroupIdentifier", try nonEmpty("subscriptionGroupIdentifier", value)))
    }
    if let inAppOwnershipType {
      guard Self.ownerships.contains(inAppOwnershipType) else {
        throw RequestRefusal(field: "inAppOwnershipType", "must be PURCHASED, FAMILY_SHARED or ASSIGNED")
      }
      items.append(("inAppOwnershipType", inAppOwnershipType))
    }
    if let sort { items.append(("sort", sort.rawValue)) }
    if let revoked { items.append(("revoked", revoked ? "true" : "false")) }
    return items
  }

  private func nonEmpty(_ field: String, _ value: String) throws(RequestRefusal) -> String {
    guard !value.isEmpty else { throw RequestRefusal(field: field, "must not be empty") }
    return value
  }
}
