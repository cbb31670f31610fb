// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAppStoreSignedDataResponse: RPCMessage, Hashable {
  public var valid: Bool?
  public var reason: String?
  public var field: String?
  public var environment: String?
  /// The complete signed payload. Depending on kind, a NotificationPayload, TransactionPayload, RenewalPayload, AppTransactionPayload or
  /// RealtimeRequestPayload.
  public var payload: JSONObject?
  /// Present for a notification.
  public var transactionInfo: JSONObject?
  public var renewalInfo: JSONObject?
  public var appTransactionInfo: JSONObject?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    environment: String? = nil,
    payload: JSONObject? = nil,
    transactionInfo: JSONObject? = nil,
    renewalInfo: JSONObject? = nil,
    appTransactionInfo: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.environment = environment
    self.payload = payload
    self.transactionInfo = transactionInfo
    self.renewalInfo = renewalInfo
    self.appTransactionInfo = appTransactionInfo
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.environment = nil
    self.payload = nil
    self.transactionInfo = nil
    self.renewalInfo = nil
    self.appTransactionInfo = nil
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
        case "payload":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
        case "transactionInfo", "transaction_info":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          transactionInfo = try reader.readObjectValue()
        case "renewalInfo", "renewal_info":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          renewalInfo = try reader.readObjectValue()
        case "appTransactionInfo", "app_transaction_info":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          appTransactionInfo = try reader.readObjectValue()
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
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    if let transactionInfo {
      writer.key("transactionInfo")
      writer.object(transactionInfo)
    }
    if let renewalInfo {
      writer.key("renewalInfo")
      writer.object(renewalInfo)
    }
    if let appTransactionInfo {
      writer.key("appTransactionInfo")
      writer.object(appTransactionInfo)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetSubscriptionStateRequest: RPCMessage, Hashable {
  public var originalTransactionId: String?
  public var environment: String?
  /// Omit notifications and gaps, if the caller needs only the state.
  public var brief: Bool?

  public init(
    originalTransactionId: String? = nil,
    environment: String? = nil,
    brief: Bool? = nil
  ) {
    self.originalTransactionId = originalTransactionId
    self.environment = environment
    self.brief = brief
  }

  public init() {
    self.originalTransactionId = nil
    self.environment = nil
    self.brief = nil
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
        case "brief":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          brief = try reader.readBool()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let originalTransactionId {
      writer.key("originalTransactionId")
      writer.string(originalTransactionId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let brief {
      writer.key("brief")
      writer.bool(brief)
    }
    writer.endObject()
  }
}
