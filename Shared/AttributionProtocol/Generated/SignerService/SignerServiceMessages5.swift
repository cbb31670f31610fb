// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/signer/v1/signer.proto`.
public struct SignPromotionalOfferResponse: RPCMessage, Hashable {
  /// DER in standard Base64.
  public var signature: String
  public var keyId: String
  public var bundleId: String
  public var productIdentifier: String
  public var offerIdentifier: String
  /// As signed, in lower case; empty if there is none.
  public var applicationUsername: String?
  public var nonce: String
  public var timestamp: Int64?

  public init(
    signature: String = "",
    keyId: String = "",
    bundleId: String = "",
    productIdentifier: String = "",
    offerIdentifier: String = "",
    applicationUsername: String? = nil,
    nonce: String = "",
    timestamp: Int64? = nil
  ) {
    self.signature = signature
    self.keyId = keyId
    self.bundleId = bundleId
    self.productIdentifier = productIdentifier
    self.offerIdentifier = offerIdentifier
    self.applicationUsername = applicationUsername
    self.nonce = nonce
    self.timestamp = timestamp
  }

  public init() {
    self.signature = ""
    self.keyId = ""
    self.bundleId = ""
    self.productIdentifier = ""
    self.offerIdentifier = ""
    self.applicationUsername = nil
    self.nonce = ""
    self.timestamp = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "signature":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          signature = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "productIdentifier", "product_identifier":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          productIdentifier = try reader.readString()
        case "offerIdentifier", "offer_identifier":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          offerIdentifier = try reader.readString()
        case "applicationUsername", "application_username":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          applicationUsername = try reader.readString()
        case "nonce":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          nonce = try reader.readString()
        case "timestamp":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          timestamp = try reader.readInt64()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !signature.isEmpty {
      writer.key("signature")
      writer.string(signature)
    }
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !productIdentifier.isEmpty {
      writer.key("productIdentifier")
      writer.string(productIdentifier)
    }
    if !offerIdentifier.isEmpty {
      writer.key("offerIdentifier")
      writer.string(offerIdentifier)
    }
    if let applicationUsername {
      writer.key("applicationUsername")
      writer.string(applicationUsername)
    }
    if !nonce.isEmpty {
      writer.key("nonce")
      writer.string(nonce)
    }
    if let timestamp {
      writer.key("timestamp")
      writer.int64(timestamp)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignPromotionalOfferJWSRequest: RPCMessage, Hashable {
  public var bundleId: String?
  public var productId: String?
  public var offerIdentifier: String?
  /// Any transaction id of the customer, or an appTransactionId.
  public var transactionId: String?

  public init(
    bundleId: String? = nil,
    productId: String? = nil,
    offerIdentifier: String? = nil,
    transactionId: String? = nil
  ) {
    self.bundleId = bundleId
    self.productId = productId
    self.offerIdentifier = offerIdentifier
    self.transactionId = transactionId
  }

  public init() {
    self.bundleId = nil
    self.productId = nil
    self.offerIdentifier = nil
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
        case "offerIdentifier", "offer_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          offerIdentifier = try reader.readString()
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
    if let offerIdentifier {
      writer.key("offerIdentifier")
      writer.string(offerIdentifier)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    writer.endObject()
  }
}

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
