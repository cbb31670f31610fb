// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ChangeAdvancedCommerceMetadataRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// For a subscription, any of its transactions.
  public var transactionId: String?
  /// Apple's SubscriptionChangeMetadataRequest.
  public var request: JSONObject?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil,
    request: JSONObject? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
    self.request = request
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
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
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "request":
          try seen.insert(3, key)
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
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let request {
      writer.key("request")
      writer.object(request)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ChangeAdvancedCommerceMetadataResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// The environment that answered.
  public var environment: String
  /// True if this call was made before; Apple was then not called again. If Apple's first answer was lost, the response is built from the
  /// purchase's present state at Apple.
  public var repeated: Bool?

  public init(
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    environment: String = "",
    repeated: Bool? = nil
  ) {
    self.response = response
    self.decoded = decoded
    self.environment = environment
    self.repeated = repeated
  }

  public init() {
    self.response = nil
    self.decoded = []
    self.environment = ""
    self.repeated = nil
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
        case "repeated":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          repeated = try reader.readBool()
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
    if let repeated {
      writer.key("repeated")
      writer.bool(repeated)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct MigrateToAdvancedCommerceRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// For a subscription, any of its transactions.
  public var transactionId: String?
  /// Apple's SubscriptionMigrateRequest.
  public var request: JSONObject?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil,
    request: JSONObject? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
    self.request = request
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
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
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "request":
          try seen.insert(3, key)
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
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let request {
      writer.key("request")
      writer.object(request)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct MigrateToAdvancedCommerceResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// The environment that answered.
  public var environment: String
  /// True if this call was made before; Apple was then not called again. If Apple's first answer was lost, the response is built from the
  /// purchase's present state at Apple.
  public var repeated: Bool?

  public init(
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    environment: String = "",
    repeated: Bool? = nil
  ) {
    self.response = response
    self.decoded = decoded
    self.environment = environment
    self.repeated = repeated
  }

  public init() {
    self.response = nil
    self.decoded = []
    self.environment = ""
    self.repeated = nil
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
        case "repeated":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          repeated = try reader.readBool()
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
    if let repeated {
      writer.key("repeated")
      writer.bool(repeated)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ChangeAdvancedCommercePriceRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// For a subscription, any of its transactions.
  public var transactionId: String?
  /// Apple's SubscriptionPriceChangeRequest.
  public var request: JSONObject?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil,
    request: JSONObject? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
    self.request = request
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
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
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "request":
          try seen.insert(3, key)
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
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let request {
      writer.key("request")
      writer.object(request)
    }
    writer.endObject()
  }
}
