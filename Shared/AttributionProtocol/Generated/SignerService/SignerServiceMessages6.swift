// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "promotionalOfferJws", "promotional_offer_jws":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          promotionalOfferJws = try SignPromotionalOfferJWSRequest(reading: &reader)
          if promotionalOffer != nil || introductoryOfferEligibility != nil || advancedCommerceRequest != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "introductoryOfferEligibility", "introductory_offer_eligibility":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          introductoryOfferEligibility = try SignIntroductoryOfferEligibilityRequest(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || advancedCommerceRequest != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "advancedCommerceRequest", "advanced_commerce_request":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          advancedCommerceRequest = try SignAdvancedCommerceRequestRequest(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || introductoryOfferEligibility != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
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

/// The result of one item: the signature in the field of the item's kind, or an error.
public struct OfferResult: RPCMessage, Hashable {
  public var promotionalOffer: SignPromotionalOfferResponse?
  public var promotionalOfferJws: SignPromotionalOfferJWSResponse?
  public var introductoryOfferEligibility: SignIntroductoryOfferEligibilityResponse?
  public var advancedCommerceRequest: SignAdvancedCommerceRequestResponse?
  public var error: ItemError?

  public init(
    promotionalOffer: SignPromotionalOfferResponse? = nil,
    promotionalOfferJws: SignPromotionalOfferJWSResponse? = nil,
    introductoryOfferEligibility: SignIntroductoryOfferEligibilityResponse? = nil,
    advancedCommerceRequest: SignAdvancedCommerceRequestResponse? = nil,
    error: ItemError? = nil
  ) {
    self.promotionalOffer = promotionalOffer
    self.promotionalOfferJws = promotionalOfferJws
    self.introductoryOfferEligibility = introductoryOfferEligibility
    self.advancedCommerceRequest = advancedCommerceRequest
    self.error = error
  }

  public init() {
    self.promotionalOffer = nil
    self.promotionalOfferJws = nil
    self.introductoryOfferEligibility = nil
    self.advancedCommerceRequest = nil
    self.error = nil
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
          promotionalOffer = try SignPromotionalOfferResponse(reading: &reader)
          if promotionalOfferJws != nil || introductoryOfferEligibility != nil || advancedCommerceRequest != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "promotionalOfferJws", "promotional_offer_jws":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          promotionalOfferJws = try SignPromotionalOfferJWSResponse(reading: &reader)
          if promotionalOffer != nil || introductoryOfferEligibility != nil || advancedCommerceRequest != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "introductoryOfferEligibility", "introductory_offer_eligibility":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          introductoryOfferEligibility = try SignIntroductoryOfferEligibilityResponse(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || advancedCommerceRequest != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "advancedCommerceRequest", "advanced_commerce_request":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          advancedCommerceRequest = try SignAdvancedCommerceRequestResponse(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || introductoryOfferEligibility != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "error":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          error = try ItemError(reading: &reader)
          if promotionalOffer != nil || promotionalOfferJws != nil || introductoryOfferEligibility != nil || advancedCommerceRequest != nil
          {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
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
    if let error {
      writer.key("error")
      error.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignOffersResponse: RPCMessage, Hashable {
  /// One for each request, in the same order.
  public var results: [OfferResult]

  public init(
    results: [OfferResult] = []
  ) {
    self.results = results
  }

  public init() {
    self.results = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "results":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          results = try reader.readList { (reader) throws(JSONError) in try OfferResult(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !results.isEmpty {
      writer.key("results")
      writer.beginArray()
      for element in results { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct ListSigningKeysRequest: RPCMessage, Hashable {
  public var adNetworkId: String?
  public var bundleId: String?

  public init(
    adNetworkId: String? = nil,
    bundleId: String? = nil
  ) {
    self.adNetworkId = adNetworkId
    self.bundleId = bundleId
  }

  public init() {
    self.adNetworkId = nil
    self.bundleId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "adNetworkId", "ad_network_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let adNetworkId {
      writer.key("adNetworkId")
      writer.string(adNetworkId)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    writer.endObject()
  }
}
