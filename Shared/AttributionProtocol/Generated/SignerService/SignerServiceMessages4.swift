// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// The error of one item of a batch.
public struct ItemError: RPCMessage, Hashable {
  /// A Connect error code, such as invalid_argument.
  public var code: String
  public var message: String
  /// The invalid field, if there is one.
  public var field: String?

  public init(
    code: String = "",
    message: String = "",
    field: String? = nil
  ) {
    self.code = code
    self.message = message
    self.field = field
  }

  public init() {
    self.code = ""
    self.message = ""
    self.field = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "code":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          code = try reader.readString()
        case "message":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          message = try reader.readString()
        case "field":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          field = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !code.isEmpty {
      writer.key("code")
      writer.string(code)
    }
    if !message.isEmpty {
      writer.key("message")
      writer.string(message)
    }
    if let field {
      writer.key("field")
      writer.string(field)
    }
    writer.endObject()
  }
}

/// The result of one item: the signed values in the field of the item's kind, or an error.
public struct ImpressionResult: RPCMessage, Hashable {
  public var skadnetwork: SignSKAdNetworkImpressionResponse?
  public var skadnetworkWeb: SignSKAdNetworkWebImpressionResponse?
  public var adAttributionKit: SignAdAttributionKitImpressionResponse?
  public var error: ItemError?

  public init(
    skadnetwork: SignSKAdNetworkImpressionResponse? = nil,
    skadnetworkWeb: SignSKAdNetworkWebImpressionResponse? = nil,
    adAttributionKit: SignAdAttributionKitImpressionResponse? = nil,
    error: ItemError? = nil
  ) {
    self.skadnetwork = skadnetwork
    self.skadnetworkWeb = skadnetworkWeb
    self.adAttributionKit = adAttributionKit
    self.error = error
  }

  public init() {
    self.skadnetwork = nil
    self.skadnetworkWeb = nil
    self.adAttributionKit = nil
    self.error = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "skadnetwork":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          skadnetwork = try SignSKAdNetworkImpressionResponse(reading: &reader)
          if skadnetworkWeb != nil || adAttributionKit != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "skadnetworkWeb", "skadnetwork_web":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          skadnetworkWeb = try SignSKAdNetworkWebImpressionResponse(reading: &reader)
          if skadnetwork != nil || adAttributionKit != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "adAttributionKit", "ad_attribution_kit":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          adAttributionKit = try SignAdAttributionKitImpressionResponse(reading: &reader)
          if skadnetwork != nil || skadnetworkWeb != nil || error != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "error":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          error = try ItemError(reading: &reader)
          if skadnetwork != nil || skadnetworkWeb != nil || adAttributionKit != nil {
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
    if let skadnetwork {
      writer.key("skadnetwork")
      skadnetwork.write(to: &writer)
    }
    if let skadnetworkWeb {
      writer.key("skadnetworkWeb")
      skadnetworkWeb.write(to: &writer)
    }
    if let adAttributionKit {
      writer.key("adAttributionKit")
      adAttributionKit.write(to: &writer)
    }
    if let error {
      writer.key("error")
      error.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignImpressionsResponse: RPCMessage, Hashable {
  /// One for each request, in the same order.
  public var results: [ImpressionResult]

  public init(
    results: [ImpressionResult] = []
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
          results = try reader.readList { (reader) throws(JSONError) in try ImpressionResult(reading: &reader) }
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
