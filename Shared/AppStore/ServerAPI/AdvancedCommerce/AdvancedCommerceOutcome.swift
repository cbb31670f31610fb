public import WireJSON

extension AdvancedCommerceRequest {
  /// The tolerance for Apple's clock being ahead of ours, milliseconds.
  public static let clockTolerance: Int64 = 300_000

  /// True if the purchase shows whether the request was executed, even if it does not name the request.
  public var isVisibleInPurchase: Bool {
    switch operation {
    case .migrate, .changePrice, .cancel, .revoke: true
    case .changeMetadata, .requestRefund: false
    }
  }

  /// True if the purchase's current state is the requested one, so that an earlier request, whose answer was lost, has succeeded. `sentAt`:
  /// the time of the first request, milliseconds since 1970.
  ///
  /// Changes of metadata and refunds can only be recognized by the request's identifier.
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
