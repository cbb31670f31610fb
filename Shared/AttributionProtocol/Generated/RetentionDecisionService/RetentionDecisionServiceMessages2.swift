// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/retention/v1/decisions.proto`.
public struct RetentionAlternateProductAnswer: RPCMessage, Hashable {
  public var messageIdentifier: String?
  /// The subscription to switch to.
  public var productId: String?
  /// BILLED_UPFRONT or MONTHLY; default: the product's own plan.
  public var billingPlanType: String?

  public init(
    messageIdentifier: String? = nil,
    productId: String? = nil,
    billingPlanType: String? = nil
  ) {
    self.messageIdentifier = messageIdentifier
    self.productId = productId
    self.billingPlanType = billingPlanType
  }

  public init() {
    self.messageIdentifier = nil
    self.productId = nil
    self.billingPlanType = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "messageIdentifier", "message_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
        case "productId", "product_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "billingPlanType", "billing_plan_type":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          billingPlanType = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let billingPlanType {
      writer.key("billingPlanType")
      writer.string(billingPlanType)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/decisions.proto`.
public struct RetentionPromotionalOfferAnswer: RPCMessage, Hashable {
  /// The id of a message without an image.
  public var messageIdentifier: String?
  public var offerIdentifier: String?
  /// The product of the offer; default: the customer's product.
  public var productId: String?
  /// V2 (the default) or V1.
  public var signatureVersion: String?
  /// With V1: a UUID for the transaction, if the customer accepts the offer.
  public var appAccountToken: String?

  public init(
    messageIdentifier: String? = nil,
    offerIdentifier: String? = nil,
    productId: String? = nil,
    signatureVersion: String? = nil,
    appAccountToken: String? = nil
  ) {
    self.messageIdentifier = messageIdentifier
    self.offerIdentifier = offerIdentifier
    self.productId = productId
    self.signatureVersion = signatureVersion
    self.appAccountToken = appAccountToken
  }

  public init() {
    self.messageIdentifier = nil
    self.offerIdentifier = nil
    self.productId = nil
    self.signatureVersion = nil
    self.appAccountToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "messageIdentifier", "message_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
        case "offerIdentifier", "offer_identifier":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          offerIdentifier = try reader.readString()
        case "productId", "product_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "signatureVersion", "signature_version":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          signatureVersion = try reader.readString()
        case "appAccountToken", "app_account_token":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          appAccountToken = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    if let offerIdentifier {
      writer.key("offerIdentifier")
      writer.string(offerIdentifier)
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let signatureVersion {
      writer.key("signatureVersion")
      writer.string(signatureVersion)
    }
    if let appAccountToken {
      writer.key("appAccountToken")
      writer.string(appAccountToken)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/decisions.proto`.
public struct RetentionAdvancedCommerceAnswer: RPCMessage, Hashable {
  public var messageIdentifier: String?
  /// The JSON of Apple's SubscriptionModifyInAppRequest with one change item.
  public var requestText: String?

  public init(
    messageIdentifier: String? = nil,
    requestText: String? = nil
  ) {
    self.messageIdentifier = messageIdentifier
    self.requestText = requestText
  }

  public init() {
    self.messageIdentifier = nil
    self.requestText = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "messageIdentifier", "message_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
        case "requestText", "request_text":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          requestText = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    if let requestText {
      writer.key("requestText")
      writer.string(requestText)
    }
    writer.endObject()
  }
}
