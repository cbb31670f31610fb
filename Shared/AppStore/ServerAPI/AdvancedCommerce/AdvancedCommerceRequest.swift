public import WireJSON

/// A request to the Advanced Commerce API. Its body is checked against the rules that Apple documents before it is sent.
public struct AdvancedCommerceRequest: Sendable, Hashable {
  /// What the request does. The comments are the titles of Apple's pages.
  public enum Operation: String, Sendable, CaseIterable {
    /// Change Subscription Metadata.
    case changeMetadata
    /// Migrate a Subscription to Advanced Commerce API.
    case migrate
    /// Change Subscription Price.
    case changePrice
    /// Cancel a Subscription.
    case cancel
    /// Revoke Subscription.
    case revoke
    /// Request Transaction Refund.
    case requestRefund

    public var endpoint: AppStoreServerEndpoint {
      switch self {
      case .changeMetadata: .changeSubscriptionMetadata
      case .migrate: .migrateSubscription
      case .changePrice: .changeSubscriptionPrice
      case .cancel: .cancelSubscription
      case .revoke: .revokeSubscription
      case .requestRefund: .requestTransactionRefund
      }
    }
  }

  /// Apple's reasons for a refund (refundReason).
  static let refundReasons = [
    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER", "MODIFY_ITEMS_REFUND", simulatedDecline,
  ]
  /// The reason that makes the sandbox decline the refund. Apple refuses it in production.
  static let simulatedDecline = "SIMULATE_REFUND_DECLINE"

  public let operation: Operation
  /// The body as it is sent to Apple.
  public let body: JSONObject
  /// `requestInfo.requestReferenceId`, the identifier of the request, in lower case. Retries have the same identifier.
  public let requestReferenceId: String

  /// Checks a body. Throws ``RequestRefusal`` with the field.
  ///
  /// - Parameter server: nil if the caller did not name the environment; then Apple decides whether a refund may simulate a decline.
  public init(_ operation: Operation, _ body: JSONObject, server: AppStoreServer?) throws(RequestRefusal) {
    let fields = RequestFields(body)
    let info = try fields.requiredChild("requestInfo")
    requestReferenceId = try info.requiredUUID("requestReferenceId").lowercased()
    try info.checkRequestInfo()
    _ = try fields.storefront()
    switch operation {
    case .changeMetadata: try Self.checkMetadata(fields)
    case .migrate: try Self.checkMigration(fields)
    case .changePrice: try Self.checkPrices(fields)
    case .cancel: try fields.allow(["requestInfo", "storefront"])
    case .revoke: try Self.checkRevocation(fields, server)
    case .requestRefund: try Self.checkRefund(fields, server)
    }
    self.operation = operation
    self.body = body
  }

  // MARK: The bodies

  private static func checkMetadata(_ fields: RequestFields) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "descriptors", "items", "taxCode"])
    let descriptors = try fields.child("descriptors")
    if let descriptors {
      try descriptors.checkEffective()
      let name = try descriptors.text("displayName", maxLength: RequestFields.maxDisplayNameLength)
      let description = try descriptors.text("description", maxLength: RequestFields.maxDescriptionLength)
      guard name != nil || description != nil else {
        throw descriptors.refusal("displayName", "is missing, and so is description: one of them must change")
      }
      try descriptors.allow(["effective", "displayName", "description"])
    }
    let items = try fields.children("items") ?? []
    var seen: Set<ExactText> = []
    for item in items {
      let current = try item.requiredText("currentSKU", maxLength: RequestFields.maxSKULength)
      guard seen.insert(ExactText(current)).inserted else { throw item.refusal("currentSKU", "must differ from that of every other item") }
      try item.checkEffective()
      let changes = [
        try item.text("SKU", maxLength: RequestFields.maxSKULength),
        try item.text("displayName", maxLength: RequestFields.maxDisplayNameLength),
        try item.text("description", maxLength: RequestFields.maxDescriptionLength),
      ]
      guard changes.contains(where: { $0 != nil }) else {
        throw item.refusal("SKU", "is missing, and so are displayName and description: one of them must change")
      }
      try item.allow(["currentSKU", "effective", "SKU", "displayName", "description"])
    }
    try fields.checkTaxCode()
    guard descriptors != nil || !items.isEmpty || fields.object["taxCode"] != nil else {
      throw fields.refusal("items", "is missing, and so are descriptors and taxCode: something must change")
    }
  }

  private static func checkMigration(_ fields: RequestFields) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "descriptors", "items", "renewalItems", "targetProductId", "taxCode"])
    let descriptors = try fields.requiredChild("descriptors")
    _ = try descriptors.requiredText("displayName", maxLength: RequestFields.maxDisplayNameLength)
    _ = try descriptors.requiredText("description", maxLength: RequestFields.maxDescriptionLength)
    try descriptors.allow(["displayName", "description"])
    for list in [try fields.requiredChildren("items"), try fields.children("renewalItems") ?? []] {
      var seen: Set<ExactText> = []
      for item in list {
        try sku(item, &seen)
        _ = try item.requiredText("displayName", maxLength: RequestFields.maxDisplayNameLength)
        _ = try item.requiredText("description", maxLength: RequestFields.maxDescriptionLength)
        try item.allow(["SKU", "displayName", "description"])
      }
    }
    _ = try fields.requiredText("targetProductId", maxLength: 255)
    guard fields.object["taxCode"] != nil else { throw fields.refusal("taxCode", "is missing") }
    try fields.checkTaxCode()
  }

  private static func checkPrices(_ fields: RequestFields) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "currency", "items"])
    let currency = try fields.currency()
    var seen: Set<ExactText> = []
    /// The item's SKU by dependent SKU.
    var owners: [ExactText: String] = [:]
    let items = try fields.requiredChildren("items")
    for item in items {
      try sku(item, &seen)
      _ = try item.requiredPrice("price", of: currency)
      let dependents = try Self.dependents(item)
      for dependent in dependents {
        let owner = item.object["SKU"]?.stringValue ?? ""
        guard !dependent.isExactly(owner) else { throw item.refusal("dependentSKUs", "must not contain the item's own SKU") }
        guard owners.updateValue(owner, forKey: ExactText(dependent)) == nil else {
          throw item.refusal("dependentSKUs", "must not contain a SKU twice, nor one that another item lists too")
        }
      }
      try item.allow(["SKU", "price", "dependentSKUs"])
    }
    for item in items where item.object["dependentSKUs"]?.arrayValue?.isEmpty == false {
      if let sku = item.object["SKU"]?.stringValue, owners[ExactText(sku)] != nil {
        throw item.refusal("dependentSKUs", "must be absent, because another item lists this item's SKU as dependent")
      }
    }
  }

  private static func dependents(_ item: RequestFields) throws(RequestRefusal) -> [String] {
    guard let value = item.object["dependentSKUs"] else { return [] }
    guard let list = value.arrayValue else { throw item.refusal("dependentSKUs", "must be a list") }
    var skus: [String] = []
    for (index, element) in list.enumerated() {
      guard let sku = element.stringValue, (1...RequestFields.maxSKULength).contains(sku.count) else {
        throw item.refusal("dependentSKUs[\(index)]", "must be 1 to \(RequestFields.maxSKULength) characters")
      }
      skus.append(sku)
    }
    return skus
  }

  private static func checkRevocation(_ fields: RequestFields, _ server: AppStoreServer?) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "refundReason", "refundRiskingPreference", "refundType"])
    _ = try refundReason(fields, server)
    _ = try fields.requiredBool("refundRiskingPreference")
    _ = try fields.requiredChoice("refundType", ["FULL", "PRORATED"])
  }

  private static func checkRefund(_ fields: RequestFields, _ server: AppStoreServer?) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "currency", "items", "refundRiskingPreference"])
    _ = try fields.currency()
    _ = try fields.requiredBool("refundRiskingPreference")
    var seen: Set<ExactText> = []
    var simulated: Set<Bool> = []
    for item in try fields.requiredChildren("items") {
      try sku(item, &seen)
      simulated.insert(try refundReason(item, server) == simulatedDecline)
      let type = try item.requiredChoice("refundType", ["FULL", "PRORATED", "CUSTOM"])
      let amount = try item.integer("refundAmount", min: 1)
      if type == "CUSTOM", amount == nil { throw item.refusal("refundAmount", "is missing: a CUSTOM refund has an amount") }
      if type != "CUSTOM", amount != nil { throw item.refusal("refundAmount", "must be absent: only a CUSTOM refund has an amount") }
      _ = try item.requiredBool("revoke")
      guard simulated.count == 1 else {
        throw item.refusal("refundReason", "must be \(simulatedDecline) for all items or for none")
      }
      try item.allow(["SKU", "refundReason", "refundType", "refundAmount", "revoke"])
    }
  }

  // MARK: Common rules

  /// Checks an item's SKU, which no earlier item may have.
  private static func sku(_ item: RequestFields, _ seen: inout Set<ExactText>) throws(RequestRefusal) {
    let sku = try item.requiredText("SKU", maxLength: RequestFields.maxSKULength)
    guard seen.insert(ExactText(sku)).inserted else { throw item.refusal("SKU", "must differ from that of every other item") }
  }

  private static func refundReason(_ fields: RequestFields, _ server: AppStoreServer?) throws(RequestRefusal) -> String {
    let reason = try fields.requiredChoice("refundReason", refundReasons)
    if reason == simulatedDecline, server == .production {
      throw fields.refusal("refundReason", "must not be \(simulatedDecline) in production")
    }
    return reason
  }
}
