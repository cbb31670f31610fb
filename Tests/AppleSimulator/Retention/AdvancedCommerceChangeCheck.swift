import WireJSON

/// Checks the change of a subscription that an answer offers, as the App Store would (*SubscriptionModifyInAppRequest*,
/// *SubscriptionModifyChangeItem*). It returns a text for each problem.
struct AdvancedCommerceChangeCheck: Sendable {
  private static let field = "advancedCommerceData"

  /// The original transaction id of the request that was answered.
  let transactionId: String?

  func problems(in request: JSONObject) -> [String] {
    var found: [String] = []
    if request["operation"]?.stringValue != "MODIFY_SUBSCRIPTION" { found.append("\(Self.field).operation: not MODIFY_SUBSCRIPTION") }
    if request["version"]?.stringValue != "1" { found.append("\(Self.field).version: not 1") }
    if request["retainBillingCycle"]?.boolValue == nil { found.append("\(Self.field).retainBillingCycle: missing") }
    if request["transactionId"]?.stringValue != transactionId {
      found.append("\(Self.field).transactionId: not the customer's original transaction")
    }
    guard let items = request["changeItems"]?.arrayValue, items.count == 1, let item = items[0].objectValue else {
      return found + ["\(Self.field).changeItems: must be a list of one object"]
    }
    return found + problems(inItem: item)
  }

  private func problems(inItem item: JSONObject) -> [String] {
    let path = "\(Self.field).changeItems[0]"
    var found: [String] = []
    for (name, maxLength) in [("currentSKU", 128), ("SKU", 128), ("displayName", 30), ("description", 45)] {
      guard let text = item[name]?.stringValue, !text.isEmpty else {
        found.append("\(path).\(name): missing")
        continue
      }
      if text.count > maxLength { found.append("\(path).\(name): too long") }
    }
    for (name, values) in [
      ("effective", ["IMMEDIATELY", "NEXT_BILL_CYCLE"]), ("reason", ["UPGRADE", "DOWNGRADE", "APPLY_OFFER"]),
    ] where !(item[name]?.stringValue.map(values.contains) ?? false) {
      found.append("\(path).\(name): none of \(values.joined(separator: ", "))")
    }
    if item["price"]?.int64Value.map({ $0 < 0 }) ?? true { found.append("\(path).price: missing or negative") }
    let known: Set = ["currentSKU", "SKU", "displayName", "description", "effective", "reason", "price", "proratedPrice", "offer"]
    for name in item.keys where !known.contains(name) { found.append("\(path).\(name): unknown") }
    return found
  }
}
