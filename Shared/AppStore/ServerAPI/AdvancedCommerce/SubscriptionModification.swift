import WireJSON

/// Apple's rules for a change of a subscription that the answer to a retention request offers: a SubscriptionModifyInAppRequest with one
/// SubscriptionModifyChangeItem (Retention Messaging API: advancedCommerceData).
enum SubscriptionModification {
  private static let operation = "MODIFY_SUBSCRIPTION"
  private static let version = "1"
  /// ISO 8601 durations of a period.
  private static let periods = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]
  /// ISO 8601 durations of an offer's period.
  private static let offerPeriods = ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y"]
  private static let offerPeriodCount: ClosedRange<Int64> = 1...12

  /// Throws for a request that Apple does not accept. `requestInfo.requestReferenceId` and `transactionId` may be absent, because
  /// ``AdvancedCommerceOffer`` adds them for each customer.
  static func check(_ object: JSONObject, path: String) throws(RequestRefusal) {
    let fields = RequestFields(object, path: path)
    _ = try fields.requiredChoice("operation", [operation])
    _ = try fields.requiredChoice("version", [version])
    _ = try fields.requiredBool("retainBillingCycle")
    _ = try fields.text("transactionId", maxLength: 64)
    try fields.child("requestInfo")?.checkRequestInfo()
    _ = try fields.storefront()
    let currency = try fields.currency()
    try fields.checkTaxCode()
    if let descriptors = try fields.child("descriptors") { try check(descriptors: descriptors) }
    if let change = try fields.child("periodChange") {
      try change.checkEffective()
      _ = try change.requiredChoice("period", periods)
      try change.allow(["effective", "period"])
    }
    let changes = try fields.requiredChildren("changeItems")
    guard changes.count == 1 else { throw fields.refusal("changeItems", "must have exactly one item") }
    try check(changeItem: changes[0], currency)
    for name in ["addItems", "removeItems"] where object[name] != nil {
      throw fields.refusal(name, "must be absent: a retention answer offers one change and nothing else")
    }
    try fields.allow([
      "operation", "version", "retainBillingCycle", "transactionId", "requestInfo", "storefront", "currency", "taxCode", "descriptors",
      "periodChange", "changeItems",
    ])
  }

  private static func check(descriptors: RequestFields) throws(RequestRefusal) {
    try descriptors.checkEffective()
    _ = try descriptors.text("displayName", maxLength: RequestFields.maxDisplayNameLength)
    _ = try descriptors.text("description", maxLength: RequestFields.maxDescriptionLength)
    try descriptors.allow(["effective", "displayName", "description"])
  }

  private static func check(changeItem item: RequestFields, _ currency: String?) throws(RequestRefusal) {
    _ = try item.requiredText("currentSKU", maxLength: RequestFields.maxSKULength)
    _ = try item.requiredText("SKU", maxLength: RequestFields.maxSKULength)
    _ = try item.requiredText("displayName", maxLength: RequestFields.maxDisplayNameLength)
    _ = try item.requiredText("description", maxLength: RequestFields.maxDescriptionLength)
    try item.checkEffective()
    _ = try item.requiredChoice("reason", ["UPGRADE", "DOWNGRADE", "APPLY_OFFER"])
    _ = try item.requiredPrice("price", of: currency)
    _ = try item.integer("proratedPrice", min: 0)
    if let offer = try item.child("offer") {
      _ = try offer.requiredChoice("period", offerPeriods)
      let count = try offer.requiredInteger("periodCount", min: offerPeriodCount.lowerBound)
      guard count <= offerPeriodCount.upperBound else {
        throw offer.refusal("periodCount", "must be at most \(offerPeriodCount.upperBound)")
      }
      _ = try offer.requiredPrice("price", of: currency)
      _ = try offer.requiredChoice("reason", ["ACQUISITION", "WIN_BACK", "RETENTION"])
      try offer.allow(["period", "periodCount", "price", "reason"])
    }
    try item.allow([
      "currentSKU", "SKU", "displayName", "description", "effective", "reason", "price", "proratedPrice", "offer",
    ])
  }
}
