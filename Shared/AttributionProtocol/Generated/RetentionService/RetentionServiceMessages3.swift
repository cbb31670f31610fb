// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/retention/v1/retention.proto`.
public struct SetDefaultRetentionMessageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var productId: String?
  /// A locale's short code, such as en-US.
  public var locale: String?
  public var messageIdentifier: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    productId: String? = nil,
    locale: String? = nil,
    messageIdentifier: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.locale = locale
    self.messageIdentifier = messageIdentifier
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.productId = nil
    self.locale = nil
    self.messageIdentifier = nil
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
        case "locale":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          locale = try reader.readString()
        case "messageIdentifier", "message_identifier":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
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
    if let locale {
      writer.key("locale")
      writer.string(locale)
    }
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct SetDefaultRetentionMessageResponse: RPCMessage, Hashable {
  /// The environment that answered.
  public var environment: String

  public init(
    environment: String = ""
  ) {
    self.environment = environment
  }

  public init() {
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "environment":
          try seen.insert(0, key)
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
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct GetDefaultRetentionMessageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var productId: String?
  public var locale: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    productId: String? = nil,
    locale: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.locale = locale
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.productId = nil
    self.locale = nil
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
        case "locale":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          locale = try reader.readString()
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
    if let locale {
      writer.key("locale")
      writer.string(locale)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct GetDefaultRetentionMessageResponse: RPCMessage, Hashable {
  public var messageIdentifier: String
  /// The environment that answered.
  public var environment: String

  public init(
    messageIdentifier: String = "",
    environment: String = ""
  ) {
    self.messageIdentifier = messageIdentifier
    self.environment = environment
  }

  public init() {
    self.messageIdentifier = ""
    self.environment = ""
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
        case "environment":
          try seen.insert(1, key)
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
    if !messageIdentifier.isEmpty {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteDefaultRetentionMessageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var productId: String?
  public var locale: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    productId: String? = nil,
    locale: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.locale = locale
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.productId = nil
    self.locale = nil
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
        case "locale":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          locale = try reader.readString()
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
    if let locale {
      writer.key("locale")
      writer.string(locale)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteDefaultRetentionMessageResponse: RPCMessage, Hashable {
  /// The environment that answered.
  public var environment: String

  public init(
    environment: String = ""
  ) {
    self.environment = environment
  }

  public init() {
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "environment":
          try seen.insert(0, key)
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
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct SetRetentionURLRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  /// The URL to which Apple sends its requests: https, at most 256 characters.
  public var realtimeUrl: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    realtimeUrl: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.realtimeUrl = realtimeUrl
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.realtimeUrl = nil
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
        case "realtimeUrl", "realtime_url":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          realtimeUrl = try reader.readString()
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
    if let realtimeUrl {
      writer.key("realtimeUrl")
      writer.string(realtimeUrl)
    }
    writer.endObject()
  }
}
