import WireJSON

/// The objects that describe a subscription in signed data.
extension SimulatedSubscription {
  /// *TransactionCommitmentInfo* of a billing period.
  ///
  /// - Parameters:
  ///   - periods: the number of billing periods in a commitment.
  ///   - number: the number of billing periods before this one, from the purchase on.
  ///   - date: the start of the billing period.
  func commitment(of periods: Int64, number: Int64, from date: Int64) -> JSONValue {
    let indexInCommitment = number % periods
    return [
      "billingPeriodNumber": .integer(indexInCommitment + 1), "totalBillingPeriods": .integer(periods),
      "commitmentExpiresDate": .integer(date + (periods - indexInCommitment) * periodDays * Self.day),
      "commitmentPrice": .integer(price * periods),
    ]
  }

  /// *advancedCommerceTransactionInfo*, or *advancedCommerceRenewalInfo* if `forRenewal` is true. Nil for a subscription that is not sold
  /// by the Advanced Commerce API.
  func advancedCommerce(forRenewal: Bool) -> JSONValue? {
    if var info = commerce {
      if !forRenewal { info["consistencyToken"] = nil }
      return .object(info)
    }
    guard !skus.isEmpty else { return nil }
    let items = skus.map { sku -> JSONValue in
      var item: JSONObject = [
        "SKU": .string(sku), "description": .string("All of \(sku)"), "displayName": .string(sku), "price": .integer(price),
        "offer": ["period": "P1M", "periodCount": 1, "price": 990, "reason": "ACQUISITION"],
      ]
      if forRenewal, priceIncreaseStatus == 0 {
        item["priceIncreaseInfo"] = ["dependentSKUs": [], "price": .integer(price + 1000), "status": "PENDING"]
      }
      return .object(item)
    }
    var info: JSONObject = [
      "requestReferenceId": "1c8a1d4f-6d3d-4f6a-8b0e-2b7b3b1a9c55", "taxCode": "C003-00-2", "period": "P1M",
      "descriptors": ["description": "A bundle", "displayName": "Bundle"], "items": .array(items),
    ]
    if forRenewal {
      info["consistencyToken"] = "a-token-of-this-state"
    } else {
      info.merge(["estimatedTax": 790, "taxExclusivePrice": .integer(price - 790), "taxRate": "0.0859"])
    }
    return .object(info)
  }

  /// *JWSRenewalInfoDecodedPayload*. `overrides` replaces members; null removes one.
  func renewalInfo(signedDate: Int64, overrides: JSONObject? = nil) -> JSONObject {
    var info: JSONObject = [
      "originalTransactionId": .string(originalID), "autoRenewProductId": .string(renewalProductID),
      "productId": .string(productID), "autoRenewStatus": autoRenews ? 1 : 0, "renewalPrice": .integer(price),
      "currency": "USD", "signedDate": .integer(signedDate), "environment": .string(environment.rawValue),
      "recentSubscriptionStartDate": .integer(transactions.first?.purchaseDate ?? 0),
      "appTransactionId": .string(appTransactionID),
    ]
    info["appAccountToken"] = appAccountToken.map { .string($0) }
    if status == 1 { info["renewalDate"] = .integer(current.expiresDate) }
    if status == 3 || status == 4 { info["isInBillingRetryPeriod"] = true }
    if status == 4, let graceEnd { info["gracePeriodExpiresDate"] = .integer(graceEnd) }
    info["expirationIntent"] = expirationIntent.map { .integer($0) }
    info["priceIncreaseStatus"] = priceIncreaseStatus.map { .integer($0) }
    if let commitmentPeriods {
      info["renewalBillingPlanType"] = "MONTHLY"
      info["commitmentInfo"] = [
        "commitmentAutoRenewProductId": .string(renewalProductID), "commitmentAutoRenewStatus": autoRenews ? 1 : 0,
        "commitmentRenewalBillingPlanType": "MONTHLY", "commitmentRenewalPrice": .integer(price * commitmentPeriods),
        "commitmentRenewalDate": .integer(current.fields["commitmentInfo"]?["commitmentExpiresDate"]?.int64Value ?? current.expiresDate),
      ]
    }
    info["advancedCommerceInfo"] = advancedCommerce(forRenewal: true)
    info.merge(overrides)
    return info
  }
}
