public import WireJSON

/// Whether Apple has executed a request whose response was lost.
extension AdvancedCommerceRequest {
  /// The tolerance for Apple's clock being ahead of ours, milliseconds.
  public static let clockTolerance: Int64 = 300_000

  /// True if Apple's data of the purchase shows whether the request was executed, even without the request's identifier.
  public var isVisibleInPurchase: Bool {
    switch operation {
    case .migrate, .changePrice, .cancel, .revoke: true
    case .changeMetadata, .requestRefund: false
    }
  }

  /// True if the purchase's current state is the requested one, so that the earlier request, whose response was lost, has succeeded.
  ///
  /// A change of metadata and a refund are recognized only by the request's identifier.
  ///
  /// - Parameters:
  ///   - transactionInfo: the decoded transaction of the purchase.
  ///   - renewalInfo: the decoded renewal information of the purchase.
  ///   - sentAt: the time of the first request, milliseconds since 1970.
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
      let requested = body["items"]?.arrayValue ?? []
      return !requested.isEmpty
        && requested.allSatisfy { change in
          items.contains { item in
            item["SKU"]?.stringValue == change["SKU"]?.stringValue
              && (item["price"]?.int64Value == change["price"]?.int64Value
                || item["priceIncreaseInfo"]?["price"]?.int64Value == change["price"]?.int64Value)
          }
        }
    }
  }
}
