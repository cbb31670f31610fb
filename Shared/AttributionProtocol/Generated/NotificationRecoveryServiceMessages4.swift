// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct CancelRecoveryResponse: RPCMessage, Hashable {
  public var recovery: Recovery?

  public init(
    recovery: Recovery? = nil
  ) {
    self.recovery = recovery
  }

  public init() {
    self.recovery = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "recovery":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          recovery = try Recovery(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let recovery {
      writer.key("recovery")
      recovery.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct Gap: RPCMessage, Hashable {
  public var originalTransactionId: String
  public var environment: String
  public var rule: String
  public var missing: String
  public var suspectedAt: Timestamp?
  /// suspected, recovered or unrecoverable.
  public var state: String

  public init(
    originalTransactionId: String = "",
    environment: String = "",
    rule: String = "",
    missing: String = "",
    suspectedAt: Timestamp? = nil,
    state: String = ""
  ) {
    self.originalTransactionId = originalTransactionId
    self.environment = environment
    self.rule = rule
    self.missing = missing
    self.suspectedAt = suspectedAt
    self.state = state
  }

  public init() {
    self.originalTransactionId = ""
    self.environment = ""
    self.rule = ""
    self.missing = ""
    self.suspectedAt = nil
    self.state = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "originalTransactionId", "original_transaction_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          originalTransactionId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "rule":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          rule = try reader.readString()
        case "missing":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          missing = try reader.readString()
        case "suspectedAt", "suspected_at":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          suspectedAt = try reader.readTimestamp()
        case "state":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !originalTransactionId.isEmpty {
      writer.key("originalTransactionId")
      writer.string(originalTransactionId)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    if !rule.isEmpty {
      writer.key("rule")
      writer.string(rule)
    }
    if !missing.isEmpty {
      writer.key("missing")
      writer.string(missing)
    }
    if let suspectedAt {
      writer.key("suspectedAt")
      writer.string(suspectedAt.text)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListGapsRequest: RPCMessage, Hashable {
  public var bundleId: String?

  public init(
    bundleId: String? = nil
  ) {
    self.bundleId = bundleId
  }

  public init() {
    self.bundleId = nil
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
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListGapsResponse: RPCMessage, Hashable {
  public var gaps: [Gap]

  public init(
    gaps: [Gap] = []
  ) {
    self.gaps = gaps
  }

  public init() {
    self.gaps = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "gaps":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          gaps = try reader.readList { (reader) throws(JSONError) in try Gap(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !gaps.isEmpty {
      writer.key("gaps")
      writer.beginArray()
      for element in gaps { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct RequestTestNotificationRequest: RPCMessage, Hashable {
  public var bundleId: String?
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

/// See `attribution/recovery/v1/recovery.proto`.
public struct RequestTestNotificationResponse: RPCMessage, Hashable {
  public var testNotificationToken: String

  public init(
    testNotificationToken: String = ""
  ) {
    self.testNotificationToken = testNotificationToken
  }

  public init() {
    self.testNotificationToken = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "testNotificationToken", "test_notification_token":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          testNotificationToken = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !testNotificationToken.isEmpty {
      writer.key("testNotificationToken")
      writer.string(testNotificationToken)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetTestNotificationStatusRequest: RPCMessage, Hashable {
  public var bundleId: String?
  public var environment: String?
  public var testNotificationToken: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    testNotificationToken: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.testNotificationToken = testNotificationToken
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.testNotificationToken = nil
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
        case "testNotificationToken", "test_notification_token":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          testNotificationToken = try reader.readString()
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
    if let testNotificationToken {
      writer.key("testNotificationToken")
      writer.string(testNotificationToken)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetTestNotificationStatusResponse: RPCMessage, Hashable {
  /// Apple's answer as it came.
  public var response: JSONObject?
  /// Its signedPayload, verified and decoded.
  public var payload: JSONObject?

  public init(
    response: JSONObject? = nil,
    payload: JSONObject? = nil
  ) {
    self.response = response
    self.payload = payload
  }

  public init() {
    self.response = nil
    self.payload = nil
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
        case "payload":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
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
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    writer.endObject()
  }
}
