// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// JWSTransactionDecodedPayload: a transaction. Dates are milliseconds since 1970. Prices are thousandths of the currency's unit; do not use them
/// for accounting.
public struct TransactionPayload: OpenMessage {
  public var transactionId: String?
  public var originalTransactionId: String?
  public var webOrderLineItemId: String?
  public var bundleId: String?
  public var productId: String?
  public var subscriptionGroupIdentifier: String?
  public var purchaseDate: Int64?
  public var originalPurchaseDate: Int64?
  public var expiresDate: Int64?
  /// The number of products or of seats.
  public var quantity: Int32?
  /// Auto-Renewable Subscription, Non-Consumable, Consumable or Non-Renewing Subscription.
  public var type: String?
  public var appAccountToken: String?
  /// PURCHASED, FAMILY_SHARED or ASSIGNED.
  public var inAppOwnershipType: String?
  public var signedDate: Int64?
  /// 0: another reason. 1: an issue with the app.
  public var revocationReason: Int32?
  public var revocationDate: Int64?
  /// REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE or ASSIGNMENT_REVOKE.
  public var revocationType: String?
  /// Thousandths of a percent: 50000 is one half.
  public var revocationPercentage: Int32?
  public var isUpgraded: Bool?
  /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
  public var offerType: Int32?
  public var offerIdentifier: String?
  /// FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT or ONE_TIME.
  public var offerDiscountType: String?
  /// An ISO 8601 duration.
  public var offerPeriod: String?
  public var environment: String?
  /// Three letters.
  public var storefront: String?
  public var storefrontId: String?
  /// PURCHASE or RENEWAL.
  public var transactionReason: String?
  /// ISO 4217.
  public var currency: String?
  public var price: Int64?
  /// Identifies the customer's download of the app.
  public var appTransactionId: String?
  /// The subscription's id before it was migrated.
  public var previousOriginalTransactionId: String?
  public var advancedCommerceInfo: AdvancedCommerceTransactionPayload?
  /// BILLED_UPFRONT or MONTHLY.
  public var billingPlanType: String?
  public var commitmentInfo: TransactionCommitmentPayload?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    transactionId: String? = nil,
    originalTransactionId: String? = nil,
    webOrderLineItemId: String? = nil,
    bundleId: String? = nil,
    productId: String? = nil,
    subscriptionGroupIdentifier: String? = nil,
    purchaseDate: Int64? = nil,
    originalPurchaseDate: Int64? = nil,
    expiresDate: Int64? = nil,
    quantity: Int32? = nil,
    type: String? = nil,
    appAccountToken: String? = nil,
    inAppOwnershipType: String? = nil,
    signedDate: Int64? = nil,
    revocationReason: Int32? = nil,
    revocationDate: Int64? = nil,
    revocationType: String? = nil,
    revocationPercentage: Int32? = nil,
    isUpgraded: Bool? = nil,
    offerType: Int32? = nil,
    offerIdentifier: String? = nil,
    offerDiscountType: String? = nil,
    offerPeriod: String? = nil,
    environment: String? = nil,
    storefront: String? = nil,
    storefrontId: String? = nil,
    transactionReason: String? = nil,
    currency: String? = nil,
    price: Int64? = nil,
    appTransactionId: String? = nil,
    previousOriginalTransactionId: String? = nil,
    advancedCommerceInfo: AdvancedCommerceTransactionPayload? = nil,
    billingPlanType: String? = nil,
    commitmentInfo: TransactionCommitmentPayload? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.transactionId = transactionId
    self.originalTransactionId = originalTransactionId
    self.webOrderLineItemId = webOrderLineItemId
    self.bundleId = bundleId
    self.productId = productId
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.purchaseDate = purchaseDate
    self.originalPurchaseDate = originalPurchaseDate
    self.expiresDate = expiresDate
    self.quantity = quantity
    self.type = type
    self.appAccountToken = appAccountToken
    self.inAppOwnershipType = inAppOwnershipType
    self.signedDate = signedDate
    self.revocationReason = revocationReason
    self.revocationDate = revocationDate
    self.revocationType = revocationType
    self.revocationPercentage = revocationPercentage
    self.isUpgraded = isUpgraded
    self.offerType = offerType
    self.offerIdentifier = offerIdentifier
    self.offerDiscountType = offerDiscountType
    self.offerPeriod = offerPeriod
    self.environment = environment
    self.storefront = storefront
    self.storefrontId = storefrontId
    self.transactionReason = transactionReason
    self.currency = currency
    self.price = price
    self.appTransactionId = appTransactionId
    self.previousOriginalTransactionId = previousOriginalTransactionId
    self.advancedCommerceInfo = advancedCommerceInfo
    self.billingPlanType = billingPlanType
    self.commitmentInfo = commitmentInfo
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "transactionId":
        if let value = OpenValue.string(member.value) {
          transactionId = value
          continue
        }
      case "originalTransactionId":
        if let value = OpenValue.string(member.value) {
          originalTransactionId = value
          continue
        }
      case "webOrderLineItemId":
        if let value = OpenValue.string(member.value) {
          webOrderLineItemId = value
          continue
        }
      case "bundleId":
        if let value = OpenValue.string(member.value) {
          bundleId = value
          continue
        }
      case "productId":
        if let value = OpenValue.string(member.value) {
          productId = value
          continue
        }
      case "subscriptionGroupIdentifier":
        if let value = OpenValue.string(member.value) {
          subscriptionGroupIdentifier = value
          continue
        }
      case "purchaseDate":
        if let value = OpenValue.int64(member.value) {
          purchaseDate = value
          continue
        }
      case "originalPurchaseDate":
        if let value = OpenValue.int64(member.value) {
          originalPurchaseDate = value
          continue
        }
      case "expiresDate":
        if let value = OpenValue.int64(member.value) {
          expiresDate = value
          continue
        }
      case "quantity":
        if let value = OpenValue.int32(member.value) {
          quantity = value
          continue
        }
      case "type":
        if let value = OpenValue.string(member.value) {
          type = value
          continue
        }
      case "appAccountToken":
        if let value = OpenValue.string(member.value) {
          appAccountToken = value
          continue
        }
      case "inAppOwnershipType":
        if let value = OpenValue.string(member.value) {
          inAppOwnershipType = value
          continue
        }
      case "signedDate":
        if let value = OpenValue.int64(member.value) {
          signedDate = value
          continue
        }
      case "revocationReason":
        if let value = OpenValue.int32(member.value) {
          revocationReason = value
          continue
        }
      case "revocationDate":
        if let value = OpenValue.int64(member.value) {
          revocationDate = value
          continue
        }
      case "revocationType":
        if let value = OpenValue.string(member.value) {
          revocationType = value
          continue
        }
      case "revocationPercentage":
        if let value = OpenValue.int32(member.value) {
          revocationPercentage = value
          continue
        }
      case "isUpgraded":
        if let value = OpenValue.bool(member.value) {
          isUpgraded = value
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
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "storefront":
        if let value = OpenValue.string(member.value) {
          storefront = value
          continue
        }
      case "storefrontId":
        if let value = OpenValue.string(member.value) {
          storefrontId = value
          continue
        }
      case "transactionReason":
        if let value = OpenValue.string(member.value) {
          transactionReason = value
          continue
        }
      case "currency":
        if let value = OpenValue.string(member.value) {
          currency = value
          continue
        }
      case "price":
        if let value = OpenValue.int64(member.value) {
          price = value
          continue
        }
      case "appTransactionId":
        if let value = OpenValue.string(member.value) {
          appTransactionId = value
          continue
        }
      case "previousOriginalTransactionId":
        if let value = OpenValue.string(member.value) {
          previousOriginalTransactionId = value
          continue
        }
      case "advancedCommerceInfo":
        if let value: AdvancedCommerceTransactionPayload = OpenValue.message(member.value) {
          advancedCommerceInfo = value
          continue
        }
      case "billingPlanType":
        if let value = OpenValue.string(member.value) {
          billingPlanType = value
          continue
        }
      case "commitmentInfo":
        if let value: TransactionCommitmentPayload = OpenValue.message(member.value) {
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
    object.append(new: "transactionId", transactionId.map { .string($0) })
    object.append(new: "originalTransactionId", originalTransactionId.map { .string($0) })
    object.append(new: "webOrderLineItemId", webOrderLineItemId.map { .string($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "productId", productId.map { .string($0) })
    object.append(new: "subscriptionGroupIdentifier", subscriptionGroupIdentifier.map { .string($0) })
    object.append(new: "purchaseDate", purchaseDate.map { .integer($0) })
    object.append(new: "originalPurchaseDate", originalPurchaseDate.map { .integer($0) })
    object.append(new: "expiresDate", expiresDate.map { .integer($0) })
    object.append(new: "quantity", quantity.map { .integer($0) })
    object.append(new: "type", type.map { .string($0) })
    object.append(new: "appAccountToken", appAccountToken.map { .string($0) })
    object.append(new: "inAppOwnershipType", inAppOwnershipType.map { .string($0) })
    object.append(new: "signedDate", signedDate.map { .integer($0) })
    object.append(new: "revocationReason", revocationReason.map { .integer($0) })
    object.append(new: "revocationDate", revocationDate.map { .integer($0) })
    object.append(new: "revocationType", revocationType.map { .string($0) })
    object.append(new: "revocationPercentage", revocationPercentage.map { .integer($0) })
    object.append(new: "isUpgraded", isUpgraded.map { .bool($0) })
    object.append(new: "offerType", offerType.map { .integer($0) })
    object.append(new: "offerIdentifier", offerIdentifier.map { .string($0) })
    object.append(new: "offerDiscountType", offerDiscountType.map { .string($0) })
    object.append(new: "offerPeriod", offerPeriod.map { .string($0) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "storefront", storefront.map { .string($0) })
    object.append(new: "storefrontId", storefrontId.map { .string($0) })
    object.append(new: "transactionReason", transactionReason.map { .string($0) })
    object.append(new: "currency", currency.map { .string($0) })
    object.append(new: "price", price.map { .integer($0) })
    object.append(new: "appTransactionId", appTransactionId.map { .string($0) })
    object.append(new: "previousOriginalTransactionId", previousOriginalTransactionId.map { .string($0) })
    object.append(new: "advancedCommerceInfo", advancedCommerceInfo.map { .object($0.object) })
    object.append(new: "billingPlanType", billingPlanType.map { .string($0) })
    object.append(new: "commitmentInfo", commitmentInfo.map { .object($0.object) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// TransactionCommitmentInfo: the position of a monthly billed subscription within its commitment.
public struct TransactionCommitmentPayload: OpenMessage {
  /// Begins with 1.
  public var billingPeriodNumber: Int32?
  public var totalBillingPeriods: Int32?
  public var commitmentExpiresDate: Int64?
  /// The price of the whole commitment.
  public var commitmentPrice: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    billingPeriodNumber: Int32? = nil,
    totalBillingPeriods: Int32? = nil,
    commitmentExpiresDate: Int64? = nil,
    commitmentPrice: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.billingPeriodNumber = billingPeriodNumber
    self.totalBillingPeriods = totalBillingPeriods
    self.commitmentExpiresDate = commitmentExpiresDate
    self.commitmentPrice = commitmentPrice
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "billingPeriodNumber":
        if let value = OpenValue.int32(member.value) {
          billingPeriodNumber = value
          continue
        }
      case "totalBillingPeriods":
        if let value = OpenValue.int32(member.value) {
          totalBillingPeriods = value
          continue
        }
      case "commitmentExpiresDate":
        if let value = OpenValue.int64(member.value) {
          commitmentExpiresDate = value
          continue
        }
      case "commitmentPrice":
        if let value = OpenValue.int64(member.value) {
          commitmentPrice = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "billingPeriodNumber", billingPeriodNumber.map { .integer($0) })
    object.append(new: "totalBillingPeriods", totalBillingPeriods.map { .integer($0) })
    object.append(new: "commitmentExpiresDate", commitmentExpiresDate.map { .integer($0) })
    object.append(new: "commitmentPrice", commitmentPrice.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
