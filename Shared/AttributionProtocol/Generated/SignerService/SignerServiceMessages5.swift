// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/signer/v1/signer.proto`.
public struct SignPromotionalOfferJWSResponse: RPCMessage, Hashable {
  public var jws: String
  public var keyId: String

  public init(
    jws: String = "",
    keyId: String = ""
  ) {
    self.jws = jws
    self.keyId = keyId
  }

  public init() {
    self.jws = ""
    self.keyId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "jws":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          jws = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !jws.isEmpty {
      writer.key("jws")
      writer.string(jws)
    }
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignIntroductoryOfferEligibilityRequest: RPCMessage, Hashable {
  public var bundleId: String?
  public var productId: String?
  public var allowIntroductoryOffer: Bool?
  /// Any transaction id of the customer, or an appTransactionId.
  public var transactionId: String?

  public init(
    bundleId: String? = nil,
    productId: String? = nil,
    allowIntroductoryOffer: Bool? = nil,
    transactionId: String? = nil
  ) {
    self.bundleId = bundleId
    self.productId = productId
    self.allowIntroductoryOffer = allowIntroductoryOffer
    self.transactionId = transactionId
  }

  public init() {
    self.bundleId = nil
    self.productId = nil
    self.allowIntroductoryOffer = nil
    self.transactionId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "productId", "product_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "allowIntroductoryOffer", "allow_introductory_offer":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          allowIntroductoryOffer = try reader.readBool()
        case "transactionId", "transaction_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let allowIntroductoryOffer {
      writer.key("allowIntroductoryOffer")
      writer.bool(allowIntroductoryOffer)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignIntroductoryOfferEligibilityResponse: RPCMessage, Hashable {
  public var jws: String
  public var keyId: String

  public init(
    jws: String = "",
    keyId: String = ""
  ) {
    self.jws = jws
    self.keyId = keyId
  }

  public init() {
    self.jws = ""
    self.keyId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "jws":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          jws = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !jws.isEmpty {
      writer.key("jws")
      writer.string(jws)
    }
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignAdvancedCommerceRequestRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// The request's JSON. Exactly these bytes are signed.
  public var requestText: String?
  /// The request as an object, if its exact bytes do not matter.
  public var request: JSONObject?

  public init(
    bundleId: String? = nil,
    requestText: String? = nil,
    request: JSONObject? = nil
  ) {
    self.bundleId = bundleId
    self.requestText = requestText
    self.request = request
  }

  public init() {
    self.bundleId = nil
    self.requestText = nil
    self.request = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "requestText", "request_text":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          requestText = try reader.readString()
        case "request":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          request = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let requestText {
      writer.key("requestText")
      writer.string(requestText)
    }
    if let request {
      writer.key("request")
      writer.object(request)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignAdvancedCommerceRequestResponse: RPCMessage, Hashable {
  public var jws: String
  public var keyId: String

  public init(
    jws: String = "",
    keyId: String = ""
  ) {
    self.jws = jws
    self.keyId = keyId
  }

  public init() {
    self.jws = ""
    self.keyId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "jws":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          jws = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !jws.isEmpty {
      writer.key("jws")
      writer.string(jws)
    }
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}

/// One offer or in-app request of one kind.
public struct OfferItem: RPCMessage, Hashable {
  public var promotionalOffer: SignPromotionalOfferRequest?
  public var promotionalOfferJws: SignPromotionalOfferJWSRequest?
  public var introductoryOfferEligibility: SignIntroductoryOfferEligibilityRequest?
  public var advancedCommerceRequest: SignAdvancedCommerceRequestRequest?

  public init(
    promotionalOffer: SignPromotionalOfferRequest? = nil,
    promotionalOfferJws: SignPromotionalOfferJWSRequest? = nil,
    introductoryOfferEligibility: SignIntroductoryOfferEligibilityRequest? = nil,
    advancedCommerceRequest: SignAdvancedCommerceRequestRequest? = nil
  ) {
    self.promotionalOffer = promotionalOffer
    self.promotionalOfferJws = promotionalOfferJws
    self.introductoryOfferEligibility = introductoryOfferEligibility
    self.advancedCommerceRequest = advancedCommerceRequest
  }

  public init() {
    self.promotionalOffer = nil
    self.promotionalOfferJws = nil
    self.introductoryOfferEligibility = nil
    self.advancedCommerceRequest = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "promotionalOffer", "promotional_offer":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          promotionalOffer = try SignPromotionalOfferRequest(reading: &reader)
          if promotionalOfferJws != nil || introductoryOfferEligibility != nil || advancedCommerceRequest != nil {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "promotionalOfferJws", "promotional_offer_jws":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          promotionalOfferJws = try SignPromotionalOfferJWSRequest(reading: &reader)
          if promotionalOffer != nil || introductoryOfferEligibility != nil || advancedCommerceRequest != nil {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "introductoryOfferEligibility", "introductory_offer_eligibility":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          introductoryOfferEligibility = try SignIntroductoryOfferEligibilityRequest(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || advancedCommerceRequest != nil {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "advancedCommerceRequest", "advanced_commerce_request":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          advancedCommerceRequest = try SignAdvancedCommerceRequestRequest(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || introductoryOfferEligibility != nil {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let promotionalOffer {
      writer.key("promotionalOffer")
      promotionalOffer.write(to: &writer)
    }
    if let promotionalOfferJws {
      writer.key("promotionalOfferJws")
      promotionalOfferJws.write(to: &writer)
    }
    if let introductoryOfferEligibility {
      writer.key("introductoryOfferEligibility")
      introductoryOfferEligibility.write(to: &writer)
    }
    if let advancedCommerceRequest {
      writer.key("advancedCommerceRequest")
      advancedCommerceRequest.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignOffersRequest: RPCMessage, Hashable {
  /// Up to 1,000.
  public var items: [OfferItem]

  public init(
    items: [OfferItem] = []
  ) {
    self.items = items
  }

  public init() {
    self.items = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "items":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          items = try reader.readList { (reader) throws(JSONError) in try OfferItem(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !items.isEmpty {
      writer.key("items")
      writer.beginArray()
      for element in items { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
