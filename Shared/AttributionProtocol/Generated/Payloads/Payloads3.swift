// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// JWSRenewalInfoDecodedPayload: the next renewal of a subscription.
public struct RenewalPayload: OpenMessage {
  public var originalTransactionId: String?
  public var productId: String?
  public var autoRenewProductId: String?
  /// 0 off, 1 on.
  public var autoRenewStatus: Int32?
  /// 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 product not available, 5 another reason.
  public var expirationIntent: Int32?
  public var isInBillingRetryPeriod: Bool?
  public var gracePeriodExpiresDate: Int64?
  /// 0: not answered. 1: agreed, or only informed.
  public var priceIncreaseStatus: Int32?
  public var offerType: Int32?
  public var offerIdentifier: String?
  public var offerDiscountType: String?
  public var offerPeriod: String?
  public var signedDate: Int64?
  public var environment: String?
  /// Interruptions of up to 60 days do not change it.
  public var recentSubscriptionStartDate: Int64?
  public var renewalDate: Int64?
  public var currency: String?
  public var renewalPrice: Int64?
  /// Best offer first.
  public var eligibleWinBackOfferIds: [String]
  /// The token of the next renewal.
  public var appAccountToken: String?
  public var appTransactionId: String?
  public var advancedCommerceInfo: AdvancedCommerceRenewalPayload?
  /// BILLED_UPFRONT or MONTHLY.
  public var renewalBillingPlanType: String?
  public var commitmentInfo: RenewalCommitmentPayload?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    originalTransactionId: String? = nil,
    productId: String? = nil,
    autoRenewProductId: String? = nil,
    autoRenewStatus: Int32? = nil,
    expirationIntent: Int32? = nil,
    isInBillingRetryPeriod: Bool? = nil,
    gracePeriodExpiresDate: Int64? = nil,
    priceIncreaseStatus: Int32? = nil,
    offerType: Int32? = nil,
    offerIdentifier: String? = nil,
    offerDiscountType: String? = nil,
    offerPeriod: String? = nil,
    signedDate: Int64? = nil,
    environment: String? = nil,
    recentSubscriptionStartDate: Int64? = nil,
    renewalDate: Int64? = nil,
    currency: String? = nil,
    renewalPrice: Int64? = nil,
    eligibleWinBackOfferIds: [String] = [],
    appAccountToken: String? = nil,
    appTransactionId: String? = nil,
    advancedCommerceInfo: AdvancedCommerceRenewalPayload? = nil,
    renewalBillingPlanType: String? = nil,
    commitmentInfo: RenewalCommitmentPayload? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.originalTransactionId = originalTransactionId
    self.productId = productId
    self.autoRenewProductId = autoRenewProductId
    self.autoRenewStatus = autoRenewStatus
    self.expirationIntent = expirationIntent
    self.isInBillingRetryPeriod = isInBillingRetryPeriod
    self.gracePeriodExpiresDate = gracePeriodExpiresDate
    self.priceIncreaseStatus = priceIncreaseStatus
    self.offerType = offerType
    self.offerIdentifier = offerIdentifier
    self.offerDiscountType = offerDiscountType
    self.offerPeriod = offerPeriod
    self.signedDate = signedDate
    self.environment = environment
    self.recentSubscriptionStartDate = recentSubscriptionStartDate
    self.renewalDate = renewalDate
    self.currency = currency
    self.renewalPrice = renewalPrice
    self.eligibleWinBackOfferIds = eligibleWinBackOfferIds
    self.appAccountToken = appAccountToken
    self.appTransactionId = appTransactionId
    self.advancedCommerceInfo = advancedCommerceInfo
    self.renewalBillingPlanType = renewalBillingPlanType
    self.commitmentInfo = commitmentInfo
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "originalTransactionId":
        if let value = OpenValue.string(member.value) {
          originalTransactionId = value
          continue
        }
      case "productId":
        if let value = OpenValue.string(member.value) {
          productId = value
          continue
        }
      case "autoRenewProductId":
        if let value = OpenValue.string(member.value) {
          autoRenewProductId = value
          continue
        }
      case "autoRenewStatus":
        if let value = OpenValue.int32(member.value) {
          autoRenewStatus = value
          continue
        }
      case "expirationIntent":
        if let value = OpenValue.int32(member.value) {
          expirationIntent = value
          continue
        }
      case "isInBillingRetryPeriod":
        if let value = OpenValue.bool(member.value) {
          isInBillingRetryPeriod = value
          continue
        }
      case "gracePeriodExpiresDate":
        if let value = OpenValue.int64(member.value) {
          gracePeriodExpiresDate = value
          continue
        }
      case "priceIncreaseStatus":
        if let value = OpenValue.int32(member.value) {
          priceIncreaseStatus = value
          continue
        }
      case "offerType":
        if let value = OpenValue.int32(member.value) {
          offerType = value
          continue
        }
      case "offerIdentifier":
        if let value = OpenValue.string(member.value) {
          offerIdentifier = value
          continue
        }
      case "offerDiscountType":
        if let value = OpenValue.string(member.value) {
          offerDiscountType = value
          continue
        }
      case "offerPeriod":
        if let value = OpenValue.string(member.value) {
          offerPeriod = value
          continue
        }
      case "signedDate":
        if let value = OpenValue.int64(member.value) {
          signedDate = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "recentSubscriptionStartDate":
        if let value = OpenValue.int64(member.value) {
          recentSubscriptionStartDate = value
          continue
        }
      case "renewalDate":
        if let value = OpenValue.int64(member.value) {
          renewalDate = value
          continue
        }
      case "currency":
        if let value = OpenValue.string(member.value) {
          currency = value
          continue
        }
      case "renewalPrice":
        if let value = OpenValue.int64(member.value) {
          renewalPrice = value
          continue
        }
      case "eligibleWinBackOfferIds":
        if let value = OpenValue.list(member.value, { OpenValue.string($0) }) {
          eligibleWinBackOfferIds = value
          continue
        }
      case "appAccountToken":
        if let value = OpenValue.string(member.value) {
          appAccountToken = value
          continue
        }
      case "appTransactionId":
        if let value = OpenValue.string(member.value) {
          appTransactionId = value
          continue
        }
      case "advancedCommerceInfo":
        if let value: AdvancedCommerceRenewalPayload = OpenValue.message(member.value) {
          advancedCommerceInfo = value
          continue
        }
      case "renewalBillingPlanType":
        if let value = OpenValue.string(member.value) {
          renewalBillingPlanType = value
          continue
        }
      case "commitmentInfo":
        if let value: RenewalCommitmentPayload = OpenValue.message(member.value) {
          commitmentInfo = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "originalTransactionId", originalTransactionId.map { .string($0) })
    object.append(new: "productId", productId.map { .string($0) })
    object.append(new: "autoRenewProductId", autoRenewProductId.map { .string($0) })
    object.append(new: "autoRenewStatus", autoRenewStatus.map { .integer($0) })
    object.append(new: "expirationIntent", expirationIntent.map { .integer($0) })
    object.append(new: "isInBillingRetryPeriod", isInBillingRetryPeriod.map { .bool($0) })
    object.append(new: "gracePeriodExpiresDate", gracePeriodExpiresDate.map { .integer($0) })
    object.append(new: "priceIncreaseStatus", priceIncreaseStatus.map { .integer($0) })
    object.append(new: "offerType", offerType.map { .integer($0) })
    object.append(new: "offerIdentifier", offerIdentifier.map { .string($0) })
    object.append(new: "offerDiscountType", offerDiscountType.map { .string($0) })
    object.append(new: "offerPeriod", offerPeriod.map { .string($0) })
    object.append(new: "signedDate", signedDate.map { .integer($0) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "recentSubscriptionStartDate", recentSubscriptionStartDate.map { .integer($0) })
    object.append(new: "renewalDate", renewalDate.map { .integer($0) })
    object.append(new: "currency", currency.map { .string($0) })
    object.append(new: "renewalPrice", renewalPrice.map { .integer($0) })
    if !eligibleWinBackOfferIds.isEmpty {
      object.append(new: "eligibleWinBackOfferIds", .array(eligibleWinBackOfferIds.map { .string($0) }))
    }
    object.append(new: "appAccountToken", appAccountToken.map { .string($0) })
    object.append(new: "appTransactionId", appTransactionId.map { .string($0) })
    object.append(new: "advancedCommerceInfo", advancedCommerceInfo.map { .object($0.object) })
    object.append(new: "renewalBillingPlanType", renewalBillingPlanType.map { .string($0) })
    object.append(new: "commitmentInfo", commitmentInfo.map { .object($0.object) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// RenewalCommitmentInfo: the commitment after the current one.
public struct RenewalCommitmentPayload: OpenMessage {
  public var commitmentAutoRenewProductId: String?
  /// 0 off, 1 on.
  public var commitmentAutoRenewStatus: Int32?
  /// BILLED_UPFRONT or MONTHLY.
  public var commitmentRenewalBillingPlanType: String?
  public var commitmentRenewalDate: Int64?
  public var commitmentRenewalPrice: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    commitmentAutoRenewProductId: String? = nil,
    commitmentAutoRenewStatus: Int32? = nil,
    commitmentRenewalBillingPlanType: String? = nil,
    commitmentRenewalDate: Int64? = nil,
    commitmentRenewalPrice: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.commitmentAutoRenewProductId = commitmentAutoRenewProductId
    self.commitmentAutoRenewStatus = commitmentAutoRenewStatus
    self.commitmentRenewalBillingPlanType = commitmentRenewalBillingPlanType
    self.commitmentRenewalDate = commitmentRenewalDate
    self.commitmentRenewalPrice = commitmentRenewalPrice
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "commitmentAutoRenewProductId":
        if let value = OpenValue.string(member.value) {
          commitmentAutoRenewProductId = value
          continue
        }
      case "commitmentAutoRenewStatus":
        if let value = OpenValue.int32(member.value) {
          commitmentAutoRenewStatus = value
          continue
        }
      case "commitmentRenewalBillingPlanType":
        if let value = OpenValue.string(member.value) {
          commitmentRenewalBillingPlanType = value
          continue
        }
      case "commitmentRenewalDate":
        if let value = OpenValue.int64(member.value) {
          commitmentRenewalDate = value
          continue
        }
      case "commitmentRenewalPrice":
        if let value = OpenValue.int64(member.value) {
          commitmentRenewalPrice = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "commitmentAutoRenewProductId", commitmentAutoRenewProductId.map { .string($0) })
    object.append(new: "commitmentAutoRenewStatus", commitmentAutoRenewStatus.map { .integer($0) })
    object.append(new: "commitmentRenewalBillingPlanType", commitmentRenewalBillingPlanType.map { .string($0) })
    object.append(new: "commitmentRenewalDate", commitmentRenewalDate.map { .integer($0) })
    object.append(new: "commitmentRenewalPrice", commitmentRenewalPrice.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// advancedCommerceTransactionInfo: a transaction of the Advanced Commerce API.
public struct AdvancedCommerceTransactionPayload: OpenMessage {
  public var requestReferenceId: String?
  public var taxCode: String?
  public var taxExclusivePrice: Int64?
  /// A decimal number.
  public var taxRate: String?
  public var estimatedTax: Int64?
  /// An ISO 8601 duration: P1W, P1M, P2M, P3M, P6M or P1Y.
  public var period: String?
  public var descriptors: AdvancedCommerceDescriptorsPayload?
  public var items: [AdvancedCommerceTransactionItemPayload]
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    requestReferenceId: String? = nil,
    taxCode: String? = nil,
    taxExclusivePrice: Int64? = nil,
    taxRate: String? = nil,
    estimatedTax: Int64? = nil,
    period: String? = nil,
    descriptors: AdvancedCommerceDescriptorsPayload? = nil,
    items: [AdvancedCommerceTransactionItemPayload] = [],
    other: JSONObject = JSONObject()
  ) {
    self.requestReferenceId = requestReferenceId
    self.taxCode = taxCode
    self.taxExclusivePrice = taxExclusivePrice
    self.taxRate = taxRate
    self.estimatedTax = estimatedTax
    self.period = period
    self.descriptors = descriptors
    self.items = items
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "requestReferenceId":
        if let value = OpenValue.string(member.value) {
          requestReferenceId = value
          continue
        }
      case "taxCode":
        if let value = OpenValue.string(member.value) {
          taxCode = value
          continue
        }
      case "taxExclusivePrice":
        if let value = OpenValue.int64(member.value) {
          taxExclusivePrice = value
          continue
        }
      case "taxRate":
        if let value = OpenValue.string(member.value) {
          taxRate = value
          continue
        }
      case "estimatedTax":
        if let value = OpenValue.int64(member.value) {
          estimatedTax = value
          continue
        }
      case "period":
        if let value = OpenValue.string(member.value) {
          period = value
          continue
        }
      case "descriptors":
        if let value: AdvancedCommerceDescriptorsPayload = OpenValue.message(member.value) {
          descriptors = value
          continue
        }
      case "items":
        if let value: [AdvancedCommerceTransactionItemPayload] = OpenValue.list(member.value, { OpenValue.message($0) }) {
          items = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "requestReferenceId", requestReferenceId.map { .string($0) })
    object.append(new: "taxCode", taxCode.map { .string($0) })
    object.append(new: "taxExclusivePrice", taxExclusivePrice.map { .integer($0) })
    object.append(new: "taxRate", taxRate.map { .string($0) })
    object.append(new: "estimatedTax", estimatedTax.map { .integer($0) })
    object.append(new: "period", period.map { .string($0) })
    object.append(new: "descriptors", descriptors.map { .object($0.object) })
    if !items.isEmpty { object.append(new: "items", .array(items.map { .object($0.object) })) }
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
