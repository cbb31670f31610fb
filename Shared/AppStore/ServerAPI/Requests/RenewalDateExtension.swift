import Cryptography
public import WireJSON

/// The parameters of an extension of renewal dates (ExtendRenewalDateRequest, MassExtendRenewalDateRequest).
public struct RenewalDateExtension: Sendable, Hashable {
  /// The number of days, 1 to 90.
  public let days: Int32
  /// The reason: 0 undeclared, 1 customer satisfaction, 2 other, 3 service issue or outage.
  public let reasonCode: Int32
  /// 1 to 128 characters. For all subscribers of a product it must be a UUID.
  public let requestIdentifier: String

  public init(days: Int32, reasonCode: Int32, requestIdentifier: String) throws(RequestRefusal) {
    guard (1...90).contains(days) else { throw RequestRefusal(field: "extendByDays", "must be 1 to 90") }
    guard (0...3).contains(reasonCode) else { throw RequestRefusal(field: "extendReasonCode", "must be 0 to 3") }
    guard (1...128).contains(requestIdentifier.count) else {
      throw RequestRefusal(field: "requestIdentifier", "must be 1 to 128 characters")
    }
    self.days = days
    self.reasonCode = reasonCode
    self.requestIdentifier = requestIdentifier
  }

  /// The body for one subscription.
  public var body: JSONObject {
    [
      "extendByDays": .integer(days), "extendReasonCode": .integer(reasonCode), "requestIdentifier": .string(requestIdentifier),
    ]
  }

  /// True if the end of the period has moved as requested. The transaction must be the same, because a renewal has a later end too. A
  /// difference of two hours is allowed for daylight saving time.
  public func isDone(from before: SubscriptionEnd, to now: SubscriptionEnd) -> Bool {
    if let first = before.transactionId, let second = now.transactionId, first != second { return false }
    return abs(now.expiresDate - before.expiresDate - Int64(days) * TimeWindow.millisecondsPerDay) <= 7_200_000
  }

  /// Throws unless the identifier of an extension for all subscribers is a UUID.
  public static func checkMassIdentifier(_ text: String) throws(RequestRefusal) {
    guard UUIDText.isValid(text) else { throw RequestRefusal(field: "requestIdentifier", "must be a UUID") }
  }

  /// The body for all active subscribers of a product. An empty `storefronts` means all countries and regions.
  public func massBody(productId: String, storefronts: [String]) throws(RequestRefusal) -> JSONObject {
    guard !productId.isEmpty else { throw RequestRefusal(field: "productId", "must not be empty") }
    try Self.checkMassIdentifier(requestIdentifier)
    for code in storefronts where code.utf8.count != 3 || !code.utf8.allSatisfy({ (65...90).contains($0) }) {
      throw RequestRefusal(field: "storefrontCountryCodes", "must be ISO 3166-1 alpha-3 codes, such as USA")
    }
    var object = body
    object["productId"] = .string(productId)
    // Apple refuses an empty list (4000027), so it is left out. A caller's empty list was refused before (`not_empty` in recovery.proto).
    if !storefronts.isEmpty { object["storefrontCountryCodes"] = .array(storefronts.map { .string($0) }) }
    return object
  }
}

/// The end of a subscription's period.
public struct SubscriptionEnd: Sendable, Hashable {
  /// Milliseconds since 1970.
  public let expiresDate: Int64
  /// The period's transaction; nil if it is unknown.
  public let transactionId: String?

  public init(expiresDate: Int64, transactionId: String?) {
    self.expiresDate = expiresDate
    self.transactionId = transactionId
  }
}
