// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/retention/v1/retention.proto`.
public struct SetRetentionURLResponse: RPCMessage, Hashable {
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
public struct GetRetentionURLRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
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
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct GetRetentionURLResponse: RPCMessage, Hashable {
  public var realtimeUrl: String
  /// The environment that answered.
  public var environment: String

  public init(
    realtimeUrl: String = "",
    environment: String = ""
  ) {
    self.realtimeUrl = realtimeUrl
    self.environment = environment
  }

  public init() {
    self.realtimeUrl = ""
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "realtimeUrl", "realtime_url":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          realtimeUrl = try reader.readString()
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
    if !realtimeUrl.isEmpty {
      writer.key("realtimeUrl")
      writer.string(realtimeUrl)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteRetentionURLRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
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
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteRetentionURLResponse: RPCMessage, Hashable {
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
public struct StartRetentionPerformanceTestRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Sandbox, which is also the default.
  public var environment: String?
  /// The original transaction id of a purchase in the sandbox.
  public var originalTransactionId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    originalTransactionId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.originalTransactionId = originalTransactionId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.originalTransactionId = nil
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
        case "originalTransactionId", "original_transaction_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          originalTransactionId = try reader.readString()
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
    if let originalTransactionId {
      writer.key("originalTransactionId")
      writer.string(originalTransactionId)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct StartRetentionPerformanceTestResponse: RPCMessage, Hashable {
  /// The id of the test.
  public var requestId: String
  /// Apple's answer, unchanged. config has the number of requests, the duration of the test, and the time limit for each answer.
  public var response: JSONObject?
  /// The environment that answered.
  public var environment: String

  public init(
    requestId: String = "",
    response: JSONObject? = nil,
    environment: String = ""
  ) {
    self.requestId = requestId
    self.response = response
    self.environment = environment
  }

  public init() {
    self.requestId = ""
    self.response = nil
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "requestId", "request_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          requestId = try reader.readString()
        case "response":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
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
    if !requestId.isEmpty {
      writer.key("requestId")
      writer.string(requestId)
    }
    if let response {
      writer.key("response")
      writer.object(response)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct GetRetentionPerformanceTestRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Sandbox, which is also the default.
  public var environment: String?
  public var requestId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    requestId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.requestId = requestId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.requestId = nil
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
        case "requestId", "request_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          requestId = try reader.readString()
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
    if let requestId {
      writer.key("requestId")
      writer.string(requestId)
    }
    writer.endObject()
  }
}
