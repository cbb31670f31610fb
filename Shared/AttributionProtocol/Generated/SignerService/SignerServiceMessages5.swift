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
  /// The request's JSON; signed as these bytes, never written anew.
  public var requestText: String?
  /// The request as an object, when its exact bytes do not matter.
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

/// A key without its private half.
public struct SigningKeyInfo: RPCMessage, Hashable {
  public var keyId: String
  /// pending, active, retiring or revoked.
  public var state: String
  /// ES256.
  public var algorithm: String
  /// SubjectPublicKeyInfo as PEM, as Apple's registration asks for it.
  public var publicKey: String
  public var adNetworkId: String?
  public var bundleId: String?
  /// impressions, appStoreServer or offers.
  public var use: String

  public init(
    keyId: String = "",
    state: String = "",
    algorithm: String = "",
    publicKey: String = "",
    adNetworkId: String? = nil,
    bundleId: String? = nil,
    use: String = ""
  ) {
    self.keyId = keyId
    self.state = state
    self.algorithm = algorithm
    self.publicKey = publicKey
    self.adNetworkId = adNetworkId
    self.bundleId = bundleId
    self.use = use
  }

  public init() {
    self.keyId = ""
    self.state = ""
    self.algorithm = ""
    self.publicKey = ""
    self.adNetworkId = nil
    self.bundleId = nil
    self.use = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "keyId", "key_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "algorithm":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          algorithm = try reader.readString()
        case "publicKey", "public_key":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          publicKey = try reader.readString()
        case "adNetworkId", "ad_network_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "use":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          use = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if !algorithm.isEmpty {
      writer.key("algorithm")
      writer.string(algorithm)
    }
    if !publicKey.isEmpty {
      writer.key("publicKey")
      writer.string(publicKey)
    }
    if let adNetworkId {
      writer.key("adNetworkId")
      writer.string(adNetworkId)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !use.isEmpty {
      writer.key("use")
      writer.string(use)
    }
    writer.endObject()
  }
}
