// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct AdvancedCommerceCall: RPCMessage, Hashable {
  public var requestReferenceId: String
  public var bundleId: String
  public var environment: String
  /// changeMetadata, migrate, changePrice, cancel, revoke or requestRefund. Empty if the id belongs to none of these calls, but to an in-app
  /// request such as a one-time charge.
  public var operation: String
  public var transactionId: String
  /// sending (in progress, or the outcome is unknown: repeat the call to find out), answered, refused, or unknown if the id belongs to none of
  /// these calls.
  public var state: String
  public var startedAt: Timestamp?
  public var completedAt: Timestamp?
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// Why Apple refused the call, or why there is no answer yet.
  public var lastError: String?
  /// Apple's error number. error_name is its name.
  public var errorCode: Int64?
  public var errorName: String?
  /// Oldest first.
  public var notifications: [AdvancedCommerceNotification]

  public init(
    requestReferenceId: String = "",
    bundleId: String = "",
    environment: String = "",
    operation: String = "",
    transactionId: String = "",
    state: String = "",
    startedAt: Timestamp? = nil,
    completedAt: Timestamp? = nil,
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    lastError: String? = nil,
    errorCode: Int64? = nil,
    errorName: String? = nil,
    notifications: [AdvancedCommerceNotification] = []
  ) {
    self.requestReferenceId = requestReferenceId
    self.bundleId = bundleId
    self.environment = environment
    self.operation = operation
    self.transactionId = transactionId
    self.state = state
    self.startedAt = startedAt
    self.completedAt = completedAt
    self.response = response
    self.decoded = decoded
    self.lastError = lastError
    self.errorCode = errorCode
    self.errorName = errorName
    self.notifications = notifications
  }

  public init() {
    self.requestReferenceId = ""
    self.bundleId = ""
    self.environment = ""
    self.operation = ""
    self.transactionId = ""
    self.state = ""
    self.startedAt = nil
    self.completedAt = nil
    self.response = nil
    self.decoded = []
    self.lastError = nil
    self.errorCode = nil
    self.errorName = nil
    self.notifications = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "requestReferenceId", "request_reference_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          requestReferenceId = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "operation":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          operation = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "state":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "startedAt", "started_at":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          startedAt = try reader.readTimestamp()
        case "completedAt", "completed_at":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          completedAt = try reader.readTimestamp()
        case "response":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "decoded":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          decoded = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "lastError", "last_error":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "errorCode", "error_code":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          errorCode = try reader.readInt64()
        case "errorName", "error_name":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          errorName = try reader.readString()
        case "notifications":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          notifications = try reader.readList { (reader) throws(JSONError) in try AdvancedCommerceNotification(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !requestReferenceId.isEmpty {
      writer.key("requestReferenceId")
      writer.string(requestReferenceId)
    }
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    if !operation.isEmpty {
      writer.key("operation")
      writer.string(operation)
    }
    if !transactionId.isEmpty {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let startedAt {
      writer.key("startedAt")
      writer.string(startedAt.text)
    }
    if let completedAt {
      writer.key("completedAt")
      writer.string(completedAt.text)
    }
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
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    if let errorCode {
      writer.key("errorCode")
      writer.int64(errorCode)
    }
    if let errorName {
      writer.key("errorName")
      writer.string(errorName)
    }
    if !notifications.isEmpty {
      writer.key("notifications")
      writer.beginArray()
      for element in notifications { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct GetAdvancedCommerceCallRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox: only a call in that environment. Both if absent.
  public var environment: String?
  public var requestReferenceId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    requestReferenceId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.requestReferenceId = requestReferenceId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.requestReferenceId = nil
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
        case "requestReferenceId", "request_reference_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          requestReferenceId = try reader.readString()
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
    if let requestReferenceId {
      writer.key("requestReferenceId")
      writer.string(requestReferenceId)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct GetAdvancedCommerceCallResponse: RPCMessage, Hashable {
  public var call: AdvancedCommerceCall?

  public init(
    call: AdvancedCommerceCall? = nil
  ) {
    self.call = call
  }

  public init() {
    self.call = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "call":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          call = try AdvancedCommerceCall(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let call {
      writer.key("call")
      call.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ListAdvancedCommerceCallsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Up to 1,000; default 100.
  public var maxCalls: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?

  public init(
    bundleId: String? = nil,
    maxCalls: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.bundleId = bundleId
    self.maxCalls = maxCalls
    self.pageToken = pageToken
  }

  public init() {
    self.bundleId = nil
    self.maxCalls = nil
    self.pageToken = nil
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
        case "maxCalls", "max_calls":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxCalls = try reader.readInt32()
        case "pageToken", "page_token":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          pageToken = try reader.readString()
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
    if let maxCalls {
      writer.key("maxCalls")
      writer.int(maxCalls)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ListAdvancedCommerceCallsResponse: RPCMessage, Hashable {
  /// Newest first, without answers and notifications; GetAdvancedCommerceCall returns those.
  public var calls: [AdvancedCommerceCall]
  /// Absent on the last page.
  public var nextPageToken: String?

  public init(
    calls: [AdvancedCommerceCall] = [],
    nextPageToken: String? = nil
  ) {
    self.calls = calls
    self.nextPageToken = nextPageToken
  }

  public init() {
    self.calls = []
    self.nextPageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "calls":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          calls = try reader.readList { (reader) throws(JSONError) in try AdvancedCommerceCall(reading: &reader) }
        case "nextPageToken", "next_page_token":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          nextPageToken = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !calls.isEmpty {
      writer.key("calls")
      writer.beginArray()
      for element in calls { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    writer.endObject()
  }
}
