public import WireJSON

/// A request of a server to the Advanced Commerce API, as Apple documents it. Its rules are checked before it is sent.
public struct AdvancedCommerceRequest: Sendable, Hashable {
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

  static let refundReasons = [
    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER", "MODIFY_ITEMS_REFUND", simulatedDecline,
  ]
  static let simulatedDecline = "SIMULATE_REFUND_DECLINE"

  public let operation: Operation
  /// The body for Apple.
  public let body: JSONObject
  /// The identifier of the request, in lower case. Retries have the same one.
  public let requestReferenceId: String

  /// `server`: nil if it is unknown before Apple is asked.
  public init(_ operation: Operation, _ body: JSONObject, server: AppStoreServer?) throws(RequestRefusal) {
    let fields = RequestFields(body)
    let info = try fields.neededChild("requestInfo")
    requestReferenceId = try info.neededUUID("requestReferenceId").lowercased()
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
      let current = try item.neededText("currentSKU", maxLength: RequestFields.maxSKULength)
      guard seen.insert(ExactText(current)).inserted else { throw item.refusal("currentSKU", "is named by another item too") }
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
    let descriptors = try fields.neededChild("descriptors")
    _ = try descriptors.neededText("displayName", maxLength: RequestFields.maxDisplayNameLength)
    _ = try descriptors.neededText("description", maxLength: RequestFields.maxDescriptionLength)
    try descriptors.allow(["displayName", "description"])
    for list in [try fields.neededChildren("items"), try fields.children("renewalItems") ?? []] {
      var seen: Set<ExactText> = []
      for item in list {
        try sku(item, &seen)
        _ = try item.neededText("displayName", maxLength: RequestFields.maxDisplayNameLength)
        _ = try item.neededText("description", maxLength: RequestFields.maxDescriptionLength)
        try item.allow(["SKU", "displayName", "description"])
      }
    }
    _ = try fields.neededText("targetProductId", maxLength: 255)
    guard fields.object["taxCode"] != nil else { throw fields.refusal("taxCode", "is missing") }
    try fields.checkTaxCode()
  }

  private static func checkPrices(_ fields: RequestFields) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "currency", "items"])
    let currency = try fields.currency()
    var seen: Set<ExactText> = []
    /// The owner of each dependent SKU.
    var owners: [ExactText: String] = [:]
    let items = try fields.neededChildren("items")
    for item in items {
      try sku(item, &seen)
      _ = try item.neededPrice("price", of: currency)
      let dependents = try Self.dependents(item)
      for dependent in dependents {
        let owner = item.object["SKU"]?.stringValue ?? ""
        guard !dependent.isExactly(owner) else { throw item.refusal("dependentSKUs", "must not have the item's own SKU") }
        guard owners.updateValue(owner, forKey: ExactText(dependent)) == nil else {
          throw item.refusal("dependentSKUs", "has a SKU that depends on another item already, or is there twice")
        }
      }
      try item.allow(["SKU", "price", "dependentSKUs"])
    }
    for item in items where item.object["dependentSKUs"]?.arrayValue?.isEmpty == false {
      if let sku = item.object["SKU"]?.stringValue, owners[ExactText(sku)] != nil {
        throw item.refusal("dependentSKUs", "must be absent if the item itself depends on another one")
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
    _ = try fields.neededBool("refundRiskingPreference")
    _ = try fields.neededChoice("refundType", ["FULL", "PRORATED"])
  }

  private static func checkRefund(_ fields: RequestFields, _ server: AppStoreServer?) throws(RequestRefusal) {
    try fields.allow(["requestInfo", "storefront", "currency", "items", "refundRiskingPreference"])
    _ = try fields.currency()
    _ = try fields.neededBool("refundRiskingPreference")
    var seen: Set<ExactText> = []
    var simulated: Set<Bool> = []
    for item in try fields.neededChildren("items") {
      try sku(item, &seen)
      simulated.insert(try refundReason(item, server) == simulatedDecline)
      let type = try item.neededChoice("refundType", ["FULL", "PRORATED", "CUSTOM"])
      let amount = try item.integer("refundAmount", min: 1)
      if type == "CUSTOM", amount == nil { throw item.refusal("refundAmount", "is missing: a CUSTOM refund has an amount") }
      if type != "CUSTOM", amount != nil { throw item.refusal("refundAmount", "goes with the refundType CUSTOM only") }
      _ = try item.neededBool("revoke")
      guard simulated.count == 1 else {
        throw item.refusal("refundReason", "must be \(simulatedDecline) of all items or of none")
      }
      try item.allow(["SKU", "refundReason", "refundType", "refundAmount", "revoke"])
    }
  }

  // MARK: What they share

  private static func sku(_ item: RequestFields, _ seen: inout Set<ExactText>) throws(RequestRefusal) {
    let sku = try item.neededText("SKU", maxLength: RequestFields.maxSKULength)
    guard seen.insert(ExactText(sku)).inserted else { throw item.refusal("SKU", "is named by another item too") }
  }

  private static func refundReason(_ fields: RequestFields, _ server: AppStoreServer?) throws(RequestRefusal) -> String {
    let reason = try fields.neededChoice("refundReason", refundReasons)
    if reason == simulatedDecline, server == .production {
      throw fields.refusal("refundReason", "must not be \(simulatedDecline) in production")
    }
    return reason
  }
}
