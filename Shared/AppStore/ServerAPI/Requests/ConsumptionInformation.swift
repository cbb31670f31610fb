import Cryptography
public import WireJSON

/// The information for Apple about a purchase for which a refund was requested (ConsumptionRequest; ConsumptionRequestV1).
///
/// It requires the customer's consent to exactly this; a tracking permission is not enough. Any 2xx answer of Apple is success
/// (``AppStoreServerAPIErrorRule``).
public struct ConsumptionInformation: Sendable, Hashable {
  /// The body for Apple.
  public let body: JSONObject
  public let endpoint: AppStoreServerEndpoint

  static let deliveries: Set<String> = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
  ]
  static let preferences: Set<String> = ["GRANT_FULL", "DECLINE", "GRANT_PRORATED"]
  /// The nine coded fields of version 1, with their highest codes.
  static let codes: [(String, Int64)] = [
    ("consumptionStatus", 3), ("platform", 2), ("deliveryStatus", 5), ("accountTenure", 7), ("playTime", 7),
    ("lifetimeDollarsPurchased", 7), ("lifetimeDollarsRefunded", 7), ("userStatus", 4), ("refundPreference", 3),
  ]

  /// Version 2, for apps that do not use the Advanced Commerce API.
  public init(version2 body: JSONObject) throws(RequestRefusal) {
    try Self.checkConsent(body)
    guard let delivery = body["deliveryStatus"]?.stringValue, Self.deliveries.contains(delivery) else {
      throw RequestRefusal(field: "deliveryStatus", "must be one of \(Self.deliveries.sorted().joined(separator: ", "))")
    }
    if let percentage = body["consumptionPercentage"] {
      guard let value = percentage.int64Value, (0...100_000).contains(value) else {
        throw RequestRefusal(field: "consumptionPercentage", "must be 0 to 100000 thousandths of a percent")
      }
      guard value == 0 || delivery == "DELIVERED" else {
        throw RequestRefusal(field: "consumptionPercentage", "must be 0 when nothing was delivered")
      }
    }
    if let preference = body["refundPreference"] {
      guard let value = preference.stringValue, Self.preferences.contains(value) else {
        throw RequestRefusal(field: "refundPreference", "must be GRANT_FULL, GRANT_PRORATED or DECLINE")
      }
    }
    try Self.checkNames(
      body, known: ["customerConsented", "sampleContentProvided", "deliveryStatus", "consumptionPercentage", "refundPreference"])
    self.body = body
    endpoint = .sendConsumptionInformation
  }

  /// Version 1: all fields are present, with 0 or an empty text for what is not stated.
  public init(version1 body: JSONObject) throws(RequestRefusal) {
    try Self.checkConsent(body)
    guard let token = body["appAccountToken"]?.stringValue, token.isEmpty || UUIDText.isValid(token) else {
      throw RequestRefusal(field: "appAccountToken", "must be a UUID or empty")
    }
    for (field, maxValue) in Self.codes {
      guard let value = body[field]?.int64Value, (0...maxValue).contains(value) else {
        throw RequestRefusal(field: field, "must be 0 to \(maxValue)")
      }
    }
    try Self.checkNames(body, known: ["customerConsented", "sampleContentProvided", "appAccountToken"] + Self.codes.map(\.0))
    self.body = body
    endpoint = .sendConsumptionInformationV1
  }

  /// Checks what depends on the purchase: of an auto-renewable subscription, the App Store computes the consumption itself.
  ///
  /// - Parameter productType: `type` of the transaction.
  public func check(productType: String) throws(RequestRefusal) {
    guard productType == "Auto-Renewable Subscription", body["consumptionPercentage"] != nil else { return }
    throw RequestRefusal(field: "consumptionPercentage", "must be absent for an auto-renewable subscription")
  }

  private static func checkConsent(_ body: JSONObject) throws(RequestRefusal) {
    guard body["customerConsented"]?.boolValue == true else {
      throw RequestRefusal(field: "customerConsented", "must be true: without the customer's consent nothing may be sent")
    }
    guard body["sampleContentProvided"]?.boolValue != nil else {
      throw RequestRefusal(field: "sampleContentProvided", "must be true or false")
    }
  }

  private static func checkNames(_ body: JSONObject, known: [String]) throws(RequestRefusal) {
    for name in body.keys where !known.contains(name) { throw RequestRefusal(field: name, "is not a field of this version") }
  }
}
