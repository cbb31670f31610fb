// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifySKAdNetworkPostbackRequest: RPCMessage, Hashable {
  /// Apple's JSON object. Set this or postback_text.
  public var postback: JSONObject?
  /// The body as it was received.
  public var postbackText: String?

  public init(
    postback: JSONObject? = nil,
    postbackText: String? = nil
  ) {
    self.postback = postback
    self.postbackText = postbackText
  }

  public init() {
    self.postback = nil
    self.postbackText = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "postback":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          postback = try reader.readObjectValue()
        case "postbackText", "postback_text":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          postbackText = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let postback {
      writer.key("postback")
      writer.object(postback)
    }
    if let postbackText {
      writer.key("postbackText")
      writer.string(postbackText)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifySKAdNetworkPostbackResponse: RPCMessage, Hashable {
  public var valid: Bool?
  /// If not valid: the reason, one of a fixed list.
  public var reason: String?
  /// If the reason is malformed: the field that is missing or invalid.
  public var field: String?
  public var version: String?
  public var keyId: String?
  public var transactionId: String?
  /// The postback under Apple's names, with its unknown fields.
  public var postback: JSONObject?
  /// production or development.
  public var environment: String?
  /// If valid: the members under Apple's names that are not signed, so that anybody who has the postback can change them. These are conversion
  /// values, the country, and members that the postback's version does not have. Members under other names are never signed and are not listed.
  public var unsigned: JSONObject?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    version: String? = nil,
    keyId: String? = nil,
    transactionId: String? = nil,
    postback: JSONObject? = nil,
    environment: String? = nil,
    unsigned: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.version = version
    self.keyId = keyId
    self.transactionId = transactionId
    self.postback = postback
    self.environment = environment
    self.unsigned = unsigned
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.version = nil
    self.keyId = nil
    self.transactionId = nil
    self.postback = nil
    self.environment = nil
    self.unsigned = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "valid":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          valid = try reader.readBool()
        case "reason":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "field":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          field = try reader.readString()
        case "version":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          version = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "postback":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          postback = try reader.readObjectValue()
        case "environment":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "unsigned":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          unsigned = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let valid {
      writer.key("valid")
      writer.bool(valid)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let field {
      writer.key("field")
      writer.string(field)
    }
    if let version {
      writer.key("version")
      writer.string(version)
    }
    if let keyId {
      writer.key("keyId")
      writer.string(keyId)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let postback {
      writer.key("postback")
      writer.object(postback)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let unsigned {
      writer.key("unsigned")
      writer.object(unsigned)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAdAttributionKitPostbackRequest: RPCMessage, Hashable {
  public var postback: JSONObject?
  public var postbackText: String?

  public init(
    postback: JSONObject? = nil,
    postbackText: String? = nil
  ) {
    self.postback = postback
    self.postbackText = postbackText
  }

  public init() {
    self.postback = nil
    self.postbackText = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "postback":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          postback = try reader.readObjectValue()
        case "postbackText", "postback_text":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          postbackText = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let postback {
      writer.key("postback")
      writer.object(postback)
    }
    if let postbackText {
      writer.key("postbackText")
      writer.string(postbackText)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAdAttributionKitPostbackResponse: RPCMessage, Hashable {
  public var valid: Bool?
  public var reason: String?
  public var field: String?
  /// production or development.
  public var environment: String?
  public var keyId: String?
  /// The postback, with the decoded JWS payload as `payload`.
  public var postback: JSONObject?
  /// If valid: the members under Apple's names outside of the JWS. They are not signed: anybody who has the postback can change them.
  public var unsigned: JSONObject?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    environment: String? = nil,
    keyId: String? = nil,
    postback: JSONObject? = nil,
    unsigned: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.environment = environment
    self.keyId = keyId
    self.postback = postback
    self.unsigned = unsigned
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.environment = nil
    self.keyId = nil
    self.postback = nil
    self.unsigned = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "valid":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          valid = try reader.readBool()
        case "reason":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "field":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          field = try reader.readString()
        case "environment":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "keyId", "key_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "postback":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          postback = try reader.readObjectValue()
        case "unsigned":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          unsigned = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let valid {
      writer.key("valid")
      writer.bool(valid)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let field {
      writer.key("field")
      writer.string(field)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let keyId {
      writer.key("keyId")
      writer.string(keyId)
    }
    if let postback {
      writer.key("postback")
      writer.object(postback)
    }
    if let unsigned {
      writer.key("unsigned")
      writer.object(unsigned)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAppStoreSignedDataRequest: RPCMessage, Hashable {
  /// A compact JWS.
  public var signedData: String?
  /// notification, transaction, renewalInfo, appTransaction or realtimeRequest.
  public var kind: String?
  /// The expected bundle id. Expected values that are absent come from the configured app that the data names.
  public var bundleId: String?
  public var appAppleId: Int64?
  public var environment: String?

  public init(
    signedData: String? = nil,
    kind: String? = nil,
    bundleId: String? = nil,
    appAppleId: Int64? = nil,
    environment: String? = nil
  ) {
    self.signedData = signedData
    self.kind = kind
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
  }

  public init() {
    self.signedData = nil
    self.kind = nil
    self.bundleId = nil
    self.appAppleId = nil
    self.environment = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "signedData", "signed_data":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          signedData = try reader.readString()
        case "kind":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "appAppleId", "app_apple_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          appAppleId = try reader.readInt64()
        case "environment":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let signedData {
      writer.key("signedData")
      writer.string(signedData)
    }
    if let kind {
      writer.key("kind")
      writer.string(kind)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let appAppleId {
      writer.key("appAppleId")
      writer.int64(appAppleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
