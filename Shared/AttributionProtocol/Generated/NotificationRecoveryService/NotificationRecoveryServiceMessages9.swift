// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct SendConsumptionInformationRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// The id of one transaction. Apple refuses an appTransactionId here.
  public var transactionId: String?
  /// Apple's request body: version 2, or version 1 if `version` is 1. consumptionPercentage is refused for an auto-renewable subscription.
  public var consumption: JSONObject?
  public var version: Int32?
  /// The signedDate of the CONSUMPTION_REQUEST, if your system received it and this deployment did not. Absent: the notification that this deployment
  /// received counts.
  public var requestedAt: Timestamp?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil,
    consumption: JSONObject? = nil,
    version: Int32? = nil,
    requestedAt: Timestamp? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
    self.consumption = consumption
    self.version = version
    self.requestedAt = requestedAt
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
    self.consumption = nil
    self.version = nil
    self.requestedAt = nil
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
        case "consumption":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          consumption = try reader.readObjectValue()
        case "version":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          version = try reader.readInt32()
        case "requestedAt", "requested_at":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          requestedAt = try reader.readTimestamp()
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
    if let consumption {
      writer.key("consumption")
      writer.object(consumption)
    }
    if let version {
      writer.key("version")
      writer.int(version)
    }
    if let requestedAt {
      writer.key("requestedAt")
      writer.string(requestedAt.text)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct SendConsumptionInformationResponse: RPCMessage, Hashable {
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
public struct SetAppAccountTokenRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// The original transaction id of the purchase. Apple refuses any other id here, and an appTransactionId too.
  public var originalTransactionId: String?
  public var appAccountToken: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    originalTransactionId: String? = nil,
    appAccountToken: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.originalTransactionId = originalTransactionId
    self.appAccountToken = appAccountToken
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.originalTransactionId = nil
    self.appAccountToken = nil
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
        case "appAccountToken", "app_account_token":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          appAccountToken = try reader.readString()
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
    if let appAccountToken {
      writer.key("appAccountToken")
      writer.string(appAccountToken)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct SetAppAccountTokenResponse: RPCMessage, Hashable {
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

/// One receipt, or verifyReceipt's answer for it.
public struct ReceiptToMigrate: RPCMessage, Hashable {
  public var id: String?
  public var appReceipt: String?
  public var transactionReceipt: String?
  public var verifyReceiptResponse: JSONObject?

  public init(
    id: String? = nil,
    appReceipt: String? = nil,
    transactionReceipt: String? = nil,
    verifyReceiptResponse: JSONObject? = nil
  ) {
    self.id = id
    self.appReceipt = appReceipt
    self.transactionReceipt = transactionReceipt
    self.verifyReceiptResponse = verifyReceiptResponse
  }

  public init() {
    self.id = nil
    self.appReceipt = nil
    self.transactionReceipt = nil
    self.verifyReceiptResponse = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          id = try reader.readString()
        case "appReceipt", "app_receipt":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          appReceipt = try reader.readString()
        case "transactionReceipt", "transaction_receipt":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          transactionReceipt = try reader.readString()
        case "verifyReceiptResponse", "verify_receipt_response":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          verifyReceiptResponse = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let id {
      writer.key("id")
      writer.string(id)
    }
    if let appReceipt {
      writer.key("appReceipt")
      writer.string(appReceipt)
    }
    if let transactionReceipt {
      writer.key("transactionReceipt")
      writer.string(transactionReceipt)
    }
    if let verifyReceiptResponse {
      writer.key("verifyReceiptResponse")
      writer.object(verifyReceiptResponse)
    }
    writer.endObject()
  }
}
