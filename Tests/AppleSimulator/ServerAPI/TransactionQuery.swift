import WireJSON

/// The filters of *Get Transaction History*, and the pages of its result. A `revision` is the position after a page.
struct TransactionQuery: Sendable {
  static let pageSize = 20

  var start: Int64?
  var end: Int64?
  var productIDs: Set<String>
  var types: Set<String>
  var groups: Set<String>
  var ownership: String?
  var descending: Bool
  var revoked: Bool?
  /// A digest of all filters: a revision is valid only with the same filters.
  let digest: String

  /// The values of `type` in a transaction, by the values of the parameter `productType`.
  static let typeNames = [
    "AUTO_RENEWABLE": "Auto-Renewable Subscription", "NON_RENEWABLE": "Non-Renewing Subscription",
    "CONSUMABLE": "Consumable",
    "NON_CONSUMABLE": "Non-Consumable",
  ]

  init(_ request: SimulatedRequest, customer: String) throws {
    start = try Self.date(request.query("startDate"), code: 4_000_015)
    end = try Self.date(request.query("endDate"), code: 4_000_016)
    if let start, let end, start >= end { throw APIError(4_000_013, "Start date is not before the end date.") }
    productIDs = Set(request.queryValues("productId"))
    if productIDs.contains("") { throw APIError(4_000_023, "Invalid product id.") }
    types = try Set(
      request.queryValues("productType").map { name in
        guard let type = Self.typeNames[name] else { throw APIError(4_000_022, "Invalid product type.") }
        return type
      })
    groups = Set(request.queryValues("subscriptionGroupIdentifier"))
    if groups.contains("") { throw APIError(4_000_024, "Invalid subscription group identifier.") }
    ownership = request.query("inAppOwnershipType")
    if let ownership, !["PURCHASED", "FAMILY_SHARED", "ASSIGNED"].contains(ownership) {
      throw APIError(4_000_026, "Invalid in-app ownership type.")
    }
    switch request.query("sort") {
    case nil, "ASCENDING": descending = false
    case "DESCENDING": descending = true
    default: throw APIError(4_000_021, "Invalid sort.")
    }
    switch request.query("revoked") {
    case nil: revoked = nil
    case "true": revoked = true
    case "false": revoked = false
    default: throw APIError(4_000_030, "Invalid revoked.")
    }
    let filters = request.query.filter { $0.name != "revision" }.map { $0.name + "=" + $0.value }.sorted()
    digest = String(Digest.hex(Digest.sha256(Array((filters + [customer]).joined(separator: "&").utf8))).prefix(16))
  }

  func matches(_ transaction: TransactionFacts) -> Bool {
    if let start, transaction.purchaseDate < start { return false }
    if let end, transaction.purchaseDate >= end { return false }
    if !productIDs.isEmpty, !productIDs.contains(transaction.fields["productId"]?.stringValue ?? "") { return false }
    if !types.isEmpty, !types.contains(transaction.fields["type"]?.stringValue ?? "") { return false }
    if !groups.isEmpty, !groups.contains(transaction.fields["subscriptionGroupIdentifier"]?.stringValue ?? "") {
      return false
    }
    if let ownership, ownership != transaction.fields["inAppOwnershipType"]?.stringValue { return false }
    if let revoked, revoked != (transaction.revocationDate != nil) { return false }
    return true
  }

  /// The page after a revision, and the revision after that page. The last page has a revision too: it later selects the transactions that
  /// have been changed since.
  static func page(
    _ transactions: [TransactionFacts], by date: (TransactionFacts) -> Int64, descending: Bool, revision: String?,
    digest: String
  ) throws -> (page: [TransactionFacts], revision: String, hasMore: Bool) {
    var sorted = transactions.sorted { (date($0), $0.id) < (date($1), $1.id) }
    if descending { sorted.reverse() }
    var cursor: (Int64, String)?
    if let revision {
      guard let bytes = Base64Text.decodeURL(revision) else { throw APIError.invalidRevision }
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: "_", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == digest, let at = Int64(parts[1]) else { throw APIError.invalidRevision }
      cursor = (at, String(parts[2]))
      sorted.removeAll {
        descending ? (date($0), $0.id) >= (at, String(parts[2])) : (date($0), $0.id) <= (at, String(parts[2]))
      }
    }
    let page = Array(sorted.prefix(pageSize))
    let last = page.last.map { (date($0), $0.id) } ?? cursor ?? (descending ? Int64.max : 0, "")
    let next = Base64Text.encodeURL(Array("\(digest)_\(last.0)_\(last.1)".utf8))
    return (page, next, sorted.count > page.count)
  }

  private static func date(_ text: String?, code: Int64) throws -> Int64? {
    guard let text else { return nil }
    guard let date = Int64(text), date >= 0 else { throw APIError(code, "Invalid date.") }
    return date
  }
}
