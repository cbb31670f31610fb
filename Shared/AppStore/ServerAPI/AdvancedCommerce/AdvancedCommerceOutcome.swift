public import WireJSON

extension AdvancedCommerceRequest {
  /// How far Apple's clock may be before ours, milliseconds.
  static let clockTolerance: Int64 = 300_000

  /// Whether the purchase is in the state that the request asks for, by what Apple says of it now: then an earlier sending of the request
  /// was done, whose answer was lost. `sentAt`: when it was first sent, milliseconds since 1970.
  ///
  /// Metadata and refunds show it by the request's identifier alone.
  public func isDone(transactionInfo: JSONObject?, renewalInfo: JSONObject?, sentAt: Int64) -> Bool {
    let commerce = renewalInfo?["advancedCommerceInfo"]
    let references = [transactionInfo?["advancedCommerceInfo"]?["requestReferenceId"], commerce?["requestReferenceId"]]
    if references.contains(where: { $0?.stringValue?.lowercased() == requestReferenceId }) { return true }
    switch operation {
    case .changeMetadata, .requestRefund: return false
    case .migrate:
      guard commerce?.objectValue != nil, let target = body["targetProductId"]?.stringValue else { return false }
      return renewalInfo?["productId"]?.stringValue == target || transactionInfo?["productId"]?.stringValue == target
    case .cancel: return renewalInfo?["autoRenewStatus"]?.int64Value == 0
    case .revoke: return (transactionInfo?["revocationDate"]?.int64Value).map { $0 >= sentAt - Self.clockTolerance } ?? false
    case .changePrice:
      let items = commerce?["items"]?.arrayValue ?? []
      let wanted = body["items"]?.arrayValue ?? []
      return !wanted.isEmpty
        && wanted.allSatisfy { change in
          items.contains { item in
            item["SKU"]?.stringValue == change["SKU"]?.stringValue
              && (item["price"]?.int64Value == change["price"]?.int64Value
                || item["priceIncreaseInfo"]?["price"]?.int64Value == change["price"]?.int64Value)
          }
        }
    }
  }
}
