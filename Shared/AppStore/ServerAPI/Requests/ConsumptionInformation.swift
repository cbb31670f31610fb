import Cryptography
public import WireJSON

/// The information for Apple about a purchase for which a refund was requested (ConsumptionRequest; ConsumptionRequestV1).
///
/// Apple requires the customer's consent to the sending of this information; consent to tracking is not enough. Any response of Apple with
/// a 2xx status is a success (``AppStoreServerAPIErrorRule``).
public struct ConsumptionInformation: Sendable, Hashable {
  /// The body as it is sent to Apple.
  public let body: JSONObject
  /// The endpoint of this version.
  public let endpoint: AppStoreServerEndpoint

  /// The values of `deliveryStatus` in version 2.
  static let deliveryStatuses: Set<String> = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
  ]
  /// The values of `refundPreference` in version 2.
  static let refundPreferences: Set<String> = ["GRANT_FULL", "DECLINE", "GRANT_PRORATED"]
  /// The nine fields of version 1 whose values are codes, with their highest codes. The lowest is 0.
  static let codes: [(String, Int64)] = [
    ("consumptionStatus", 3), ("platform", 2), ("deliveryStatus", 5), ("accountTenure", 7), ("playTime", 7),
    ("lifetimeDollarsPurchased", 7), ("lifetimeDollarsRefunded", 7), ("userStatus", 4), ("refundPreference", 3),
  ]

  /// Checks a body of version 2, for apps that do not use the Advanced Commerce API.
  public init(version2 body: JSONObject) throws(RequestRefusal) {
    try Self.checkConsent(body)
    guard let delivery = body["deliveryStatus"]?.stringValue, Self.deliveryStatuses.contains(delivery) else {
      throw RequestRefusal(field: "deliveryStatus", "must be one of \(Self.deliveryStatuses.sorted().joined(separator: ", "))")
    }
    if let percentage = body["consumptionPercentage"] {
      guard let value = percentage.int64Value, (0...100_000).contains(value) else {
        throw RequestRefusal(field: "consumptionPercentage", "must be 0 to 100000, in thousandths of a percent")
      }
      guard value == 0 || delivery == "DELIVERED" else {
        throw RequestRefusal(field: "consumptionPercentage", "must be 0 unless deliveryStatus is DELIVERED")
      }
    }
    if let preference = body["refundPreference"] {
      guard let value = preference.stringValue, Self.refundPreferences.contains(value) else {
        throw RequestRefusal(field: "refundPreference", "must be GRANT_FULL, GRANT_PRORATED or DECLINE")
      }
    }
    try Self.checkNames(
      body, known: ["customerConsented", "sampleContentProvided", "deliveryStatus", "consumptionPercentage", "refundPreference"])
    self.body = body
    endpoint = .sendConsumptionInformation
  }

  /// Checks a body of version 1. It has all fields, with 0 or an empty text for what is not stated.
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

  /// Checks what depends on the product (consumptionPercentage; Send Consumption Information V1). For an auto-renewable subscription, the App
  /// Store computes the consumption itself. For other products, a prorated refund needs it.
  ///
  /// - Parameter productType: `type` of the transaction.
  public func check(productType: String) throws(RequestRefusal) {
    switch productType {
    case "Auto-Renewable Subscription":
      guard body["consumptionPercentage"] == nil else {
        throw RequestRefusal(field: "consumptionPercentage", "must be absent for an auto-renewable subscription")
      }
    case "Consumable", "Non-Consumable", "Non-Renewing Subscription":
      if endpoint == .sendConsumptionInformationV1, productType != "Consumable" {
        throw RequestRefusal(
          field: "version", "must be 2: version 1 is for consumables and auto-renewable subscriptions, and this is a \(productType)")
      }
      guard body["refundPreference"] != "GRANT_PRORATED" || (body["consumptionPercentage"]?.int64Value ?? 0) > 0 else {
        throw RequestRefusal(
          field: "consumptionPercentage",
          "must be above 0 for a \(productType) if refundPreference is GRANT_PRORATED; without a percentage, prefer GRANT_FULL or DECLINE")
      }
    default: break
    }
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
