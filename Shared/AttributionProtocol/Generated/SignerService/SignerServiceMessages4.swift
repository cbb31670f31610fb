// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/signer/v1/signer.proto`.
public struct CreateAppStoreServerTokenRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Up to 3600; default 1200.
  public var lifetimeSeconds: Int32?
  /// One of the app's keys for this API, apps[].appStoreServer or its otherKey; default: the first.
  public var keyId: String?

  public init(
    bundleId: String? = nil,
    lifetimeSeconds: Int32? = nil,
    keyId: String? = nil
  ) {
    self.bundleId = bundleId
    self.lifetimeSeconds = lifetimeSeconds
    self.keyId = keyId
  }

  public init() {
    self.bundleId = nil
    self.lifetimeSeconds = nil
    self.keyId = nil
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
        case "lifetimeSeconds", "lifetime_seconds":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          lifetimeSeconds = try reader.readInt32()
        case "keyId", "key_id":
          try seen.insert(2, key)
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
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let lifetimeSeconds {
      writer.key("lifetimeSeconds")
      writer.int(lifetimeSeconds)
    }
    if let keyId {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct CreateAppStoreServerTokenResponse: RPCMessage, Hashable {
  public var token: String
  public var expiresAt: Timestamp?

  public init(
    token: String = "",
    expiresAt: Timestamp? = nil
  ) {
    self.token = token
    self.expiresAt = expiresAt
  }

  public init() {
    self.token = ""
    self.expiresAt = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "token":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          token = try reader.readString()
        case "expiresAt", "expires_at":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          expiresAt = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !token.isEmpty {
      writer.key("token")
      writer.string(token)
    }
    if let expiresAt {
      writer.key("expiresAt")
      writer.string(expiresAt.text)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignPromotionalOfferRequest: RPCMessage, Hashable {
  public var bundleId: String?
  public var productIdentifier: String?
  public var offerIdentifier: String?
  /// The user's name in the app, or empty. Set this or app_account_token.
  public var applicationUsername: String?
  public var appAccountToken: String?
  /// A UUID; created if absent.
  public var nonce: String?
  /// Milliseconds since 1970; default: now.
  public var timestamp: Int64?

  public init(
    bundleId: String? = nil,
    productIdentifier: String? = nil,
    offerIdentifier: String? = nil,
    applicationUsername: String? = nil,
    appAccountToken: String? = nil,
    nonce: String? = nil,
    timestamp: Int64? = nil
  ) {
    self.bundleId = bundleId
    self.productIdentifier = productIdentifier
    self.offerIdentifier = offerIdentifier
    self.applicationUsername = applicationUsername
    self.appAccountToken = appAccountToken
    self.nonce = nonce
    self.timestamp = timestamp
  }

  public init() {
    self.bundleId = nil
    self.productIdentifier = nil
    self.offerIdentifier = nil
    self.applicationUsername = nil
    self.appAccountToken = nil
    self.nonce = nil
    self.timestamp = nil
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
        case "productIdentifier", "product_identifier":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          productIdentifier = try reader.readString()
        case "offerIdentifier", "offer_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          offerIdentifier = try reader.readString()
        case "applicationUsername", "application_username":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          applicationUsername = try reader.readString()
        case "appAccountToken", "app_account_token":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          appAccountToken = try reader.readString()
        case "nonce":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          nonce = try reader.readString()
        case "timestamp":
          try seen.insert(6, key)
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
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let productIdentifier {
      writer.key("productIdentifier")
      writer.string(productIdentifier)
    }
    if let offerIdentifier {
      writer.key("offerIdentifier")
      writer.string(offerIdentifier)
    }
    if let applicationUsername {
      writer.key("applicationUsername")
      writer.string(applicationUsername)
    }
    if let appAccountToken {
      writer.key("appAccountToken")
      writer.string(appAccountToken)
    }
    if let nonce {
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
