// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// advancedCommerceTransactionItem: a part of a transaction.
public struct AdvancedCommerceTransactionItemPayload: OpenMessage {
  public var SKU: String?
  public var description: String?
  public var displayName: String?
  public var price: Int64?
  public var offer: AdvancedCommerceOfferPayload?
  public var refunds: [AdvancedCommerceRefundPayload]
  public var revocationDate: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    SKU: String? = nil,
    description: String? = nil,
    displayName: String? = nil,
    price: Int64? = nil,
    offer: AdvancedCommerceOfferPayload? = nil,
    refunds: [AdvancedCommerceRefundPayload] = [],
    revocationDate: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.SKU = SKU
    self.description = description
    self.displayName = displayName
    self.price = price
    self.offer = offer
    self.refunds = refunds
    self.revocationDate = revocationDate
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "SKU":
        if let value = OpenValue.string(member.value) {
          SKU = value
          continue
        }
      case "description":
        if let value = OpenValue.string(member.value) {
          description = value
          continue
        }
      case "displayName":
        if let value = OpenValue.string(member.value) {
          displayName = value
          continue
        }
      case "price":
        if let value = OpenValue.int64(member.value) {
          price = value
          continue
        }
      case "offer":
        if let value: AdvancedCommerceOfferPayload = OpenValue.message(member.value) {
          offer = value
          continue
        }
      case "refunds":
        if let value: [AdvancedCommerceRefundPayload] = OpenValue.list(member.value, { OpenValue.message($0) }) {
          refunds = value
          continue
        }
      case "revocationDate":
        if let value = OpenValue.int64(member.value) {
          revocationDate = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "SKU", SKU.map { .string($0) })
    object.append(new: "description", description.map { .string($0) })
    object.append(new: "displayName", displayName.map { .string($0) })
    object.append(new: "price", price.map { .integer($0) })
    object.append(new: "offer", offer.map { .object($0.object) })
    if !refunds.isEmpty { object.append(new: "refunds", .array(refunds.map { .object($0.object) })) }
    object.append(new: "revocationDate", revocationDate.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// advancedCommerceRefund: a refund for an item.
public struct AdvancedCommerceRefundPayload: OpenMessage {
  public var refundAmount: Int64?
  public var refundDate: Int64?
  /// UNINTENDED_PURCHASE, FULFILLMENT_ISSUE, UNSATISFIED_WITH_PURCHASE, LEGAL, OTHER, MODIFY_ITEMS_REFUND or SIMULATE_REFUND_DECLINE.
  public var refundReason: String?
  /// FULL, PRORATED or CUSTOM.
  public var refundType: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    refundAmount: Int64? = nil,
    refundDate: Int64? = nil,
    refundReason: String? = nil,
    refundType: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.refundAmount = refundAmount
    self.refundDate = refundDate
    self.refundReason = refundReason
    self.refundType = refundType
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "refundAmount":
        if let value = OpenValue.int64(member.value) {
          refundAmount = value
          continue
        }
      case "refundDate":
        if let value = OpenValue.int64(member.value) {
          refundDate = value
          continue
        }
      case "refundReason":
        if let value = OpenValue.string(member.value) {
          refundReason = value
          continue
        }
      case "refundType":
        if let value = OpenValue.string(member.value) {
          refundType = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "refundAmount", refundAmount.map { .integer($0) })
    object.append(new: "refundDate", refundDate.map { .integer($0) })
    object.append(new: "refundReason", refundReason.map { .string($0) })
    object.append(new: "refundType", refundType.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// advancedCommerceOffer: a discount of an item.
public struct AdvancedCommerceOfferPayload: OpenMessage {
  /// An ISO 8601 duration.
  public var period: String?
  public var periodCount: Int32?
  public var price: Int64?
  /// ACQUISITION, WIN_BACK or RETENTION.
  public var reason: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    period: String? = nil,
    periodCount: Int32? = nil,
    price: Int64? = nil,
    reason: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.period = period
    self.periodCount = periodCount
    self.price = price
    self.reason = reason
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "period":
        if let value = OpenValue.string(member.value) {
          period = value
          continue
        }
      case "periodCount":
        if let value = OpenValue.int32(member.value) {
          periodCount = value
          continue
        }
      case "price":
        if let value = OpenValue.int64(member.value) {
          price = value
          continue
        }
      case "reason":
        if let value = OpenValue.string(member.value) {
          reason = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "period", period.map { .string($0) })
    object.append(new: "periodCount", periodCount.map { .integer($0) })
    object.append(new: "price", price.map { .integer($0) })
    object.append(new: "reason", reason.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// advancedCommerceDescriptors: the name and the description of a subscription.
public struct AdvancedCommerceDescriptorsPayload: OpenMessage {
  public var description: String?
  public var displayName: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    description: String? = nil,
    displayName: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.description = description
    self.displayName = displayName
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "description":
        if let value = OpenValue.string(member.value) {
          description = value
          continue
        }
      case "displayName":
        if let value = OpenValue.string(member.value) {
          displayName = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "description", description.map { .string($0) })
    object.append(new: "displayName", displayName.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// advancedCommerceRenewalInfo: the next renewal of a subscription of the Advanced Commerce API.
public struct AdvancedCommerceRenewalPayload: OpenMessage {
  public var consistencyToken: String?
  public var descriptors: AdvancedCommerceDescriptorsPayload?
  public var items: [AdvancedCommerceRenewalItemPayload]
  public var period: String?
  public var requestReferenceId: String?
  public var taxCode: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    consistencyToken: String? = nil,
    descriptors: AdvancedCommerceDescriptorsPayload? = nil,
    items: [AdvancedCommerceRenewalItemPayload] = [],
    period: String? = nil,
    requestReferenceId: String? = nil,
    taxCode: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.consistencyToken = consistencyToken
    self.descriptors = descriptors
    self.items = items
    self.period = period
    self.requestReferenceId = requestReferenceId
    self.taxCode = taxCode
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "consistencyToken":
        if let value = OpenValue.string(member.value) {
          consistencyToken = value
          continue
        }
      case "descriptors":
        if let value: AdvancedCommerceDescriptorsPayload = OpenValue.message(member.value) {
          descriptors = value
          continue
        }
      case "items":
        if let value: [AdvancedCommerceRenewalItemPayload] = OpenValue.list(member.value, { OpenValue.message($0) }) {
          items = value
          continue
        }
      case "period":
        if let value = OpenValue.string(member.value) {
          period = value
          continue
        }
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
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "consistencyToken", consistencyToken.map { .string($0) })
    object.append(new: "descriptors", descriptors.map { .object($0.object) })
    if !items.isEmpty { object.append(new: "items", .array(items.map { .object($0.object) })) }
    object.append(new: "period", period.map { .string($0) })
    object.append(new: "requestReferenceId", requestReferenceId.map { .string($0) })
    object.append(new: "taxCode", taxCode.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// advancedCommerceRenewalItem: a part of the next renewal.
public struct AdvancedCommerceRenewalItemPayload: OpenMessage {
  public var SKU: String?
  public var description: String?
  public var displayName: String?
  public var price: Int64?
  public var offer: AdvancedCommerceOfferPayload?
  public var priceIncreaseInfo: AdvancedCommercePriceIncreasePayload?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    SKU: String? = nil,
    description: String? = nil,
    displayName: String? = nil,
    price: Int64? = nil,
    offer: AdvancedCommerceOfferPayload? = nil,
    priceIncreaseInfo: AdvancedCommercePriceIncreasePayload? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.SKU = SKU
    self.description = description
    self.displayName = displayName
    self.price = price
    self.offer = offer
    self.priceIncreaseInfo = priceIncreaseInfo
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "SKU":
        if let value = OpenValue.string(member.value) {
          SKU = value
          continue
        }
      case "description":
        if let value = OpenValue.string(member.value) {
          description = value
          continue
        }
      case "displayName":
        if let value = OpenValue.string(member.value) {
          displayName = value
          continue
        }
      case "price":
        if let value = OpenValue.int64(member.value) {
          price = value
          continue
        }
      case "offer":
        if let value: AdvancedCommerceOfferPayload = OpenValue.message(member.value) {
          offer = value
          continue
        }
      case "priceIncreaseInfo":
        if let value: AdvancedCommercePriceIncreasePayload = OpenValue.message(member.value) {
          priceIncreaseInfo = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "SKU", SKU.map { .string($0) })
    object.append(new: "description", description.map { .string($0) })
    object.append(new: "displayName", displayName.map { .string($0) })
    object.append(new: "price", price.map { .integer($0) })
    object.append(new: "offer", offer.map { .object($0.object) })
    object.append(new: "priceIncreaseInfo", priceIncreaseInfo.map { .object($0.object) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
