// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct ExtendSubscriptionRenewalDateResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// The environment that answered.
  public var environment: String

  public init(
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    environment: String = ""
  ) {
    self.response = response
    self.decoded = decoded
    self.environment = environment
  }

  public init() {
    self.response = nil
    self.decoded = []
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "response":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "decoded":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          decoded = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "environment":
          try seen.insert(2, key)
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
    if let response {
      writer.key("response")
      writer.object(response)
    }
    if !decoded.isEmpty {
      writer.key("decoded")
      writer.beginArray()
      for element in decoded { writer.object(element) }
      writer.endArray()
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ExtendRenewalDatesForAllSubscribersRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var productId: String?
  public var extendByDays: Int32?
  public var extendReasonCode: Int32?
  public var requestIdentifier: String?
  /// ISO 3166-1 alpha-3; absent: all storefronts. An empty list is refused, as Apple refuses it.
  public var storefrontCountryCodes: [String]

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    productId: String? = nil,
    extendByDays: Int32? = nil,
    extendReasonCode: Int32? = nil,
    requestIdentifier: String? = nil,
    storefrontCountryCodes: [String] = []
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
    self.storefrontCountryCodes = storefrontCountryCodes
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.productId = nil
    self.extendByDays = nil
    self.extendReasonCode = nil
    self.requestIdentifier = nil
    self.storefrontCountryCodes = []
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
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "productId", "product_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "extendByDays", "extend_by_days":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          extendByDays = try reader.readInt32()
        case "extendReasonCode", "extend_reason_code":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          extendReasonCode = try reader.readInt32()
        case "requestIdentifier", "request_identifier":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          requestIdentifier = try reader.readString()
        case "storefrontCountryCodes", "storefront_country_codes":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          storefrontCountryCodes = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
          if storefrontCountryCodes.isEmpty { throw JSONError(.outOfRange("must not be empty if it is given")) }
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
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let extendByDays {
      writer.key("extendByDays")
      writer.int(extendByDays)
    }
    if let extendReasonCode {
      writer.key("extendReasonCode")
      writer.int(extendReasonCode)
    }
    if let requestIdentifier {
      writer.key("requestIdentifier")
      writer.string(requestIdentifier)
    }
    if !storefrontCountryCodes.isEmpty {
      writer.key("storefrontCountryCodes")
      writer.beginArray()
      for element in storefrontCountryCodes { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ExtendRenewalDatesForAllSubscribersResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// The environment that answered.
  public var environment: String

  public init(
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    environment: String = ""
  ) {
    self.response = response
    self.decoded = decoded
    self.environment = environment
  }

  public init() {
    self.response = nil
    self.decoded = []
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "response":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "decoded":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          decoded = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "environment":
          try seen.insert(2, key)
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
    if let response {
      writer.key("response")
      writer.object(response)
    }
    if !decoded.isEmpty {
      writer.key("decoded")
      writer.beginArray()
      for element in decoded { writer.object(element) }
      writer.endArray()
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetRenewalDateExtensionStatusRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var productId: String?
  public var requestIdentifier: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    productId: String? = nil,
    requestIdentifier: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.requestIdentifier = requestIdentifier
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.productId = nil
    self.requestIdentifier = nil
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
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "productId", "product_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "requestIdentifier", "request_identifier":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          requestIdentifier = try reader.readString()
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
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let requestIdentifier {
      writer.key("requestIdentifier")
      writer.string(requestIdentifier)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetRenewalDateExtensionStatusResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// The environment that answered.
  public var environment: String

  public init(
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    environment: String = ""
  ) {
    self.response = response
    self.decoded = decoded
    self.environment = environment
  }

  public init() {
    self.response = nil
    self.decoded = []
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "response":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "decoded":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          decoded = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "environment":
          try seen.insert(2, key)
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
    if let response {
      writer.key("response")
      writer.object(response)
    }
    if !decoded.isEmpty {
      writer.key("decoded")
      writer.beginArray()
      for element in decoded { writer.object(element) }
      writer.endArray()
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
