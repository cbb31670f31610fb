// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct RequestAdvancedCommerceRefundRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// For a subscription, any of its transactions.
  public var transactionId: String?
  /// Apple's RequestRefundRequest.
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
public struct RequestAdvancedCommerceRefundResponse: RPCMessage, Hashable {
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

/// A notification whose Advanced Commerce information names the call.
public struct AdvancedCommerceNotification: RPCMessage, Hashable {
  /// An id for GetEvent.
  public var eventId: String
  public var notificationType: String
  public var subtype: String?
  public var notificationUuid: String
  public var signedDate: Timestamp?

  public init(
    eventId: String = "",
    notificationType: String = "",
    subtype: String? = nil,
    notificationUuid: String = "",
    signedDate: Timestamp? = nil
  ) {
    self.eventId = eventId
    self.notificationType = notificationType
    self.subtype = subtype
    self.notificationUuid = notificationUuid
    self.signedDate = signedDate
  }

  public init() {
    self.eventId = ""
    self.notificationType = ""
    self.subtype = nil
    self.notificationUuid = ""
    self.signedDate = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "eventId", "event_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          eventId = try reader.readString()
        case "notificationType", "notification_type":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          notificationType = try reader.readString()
        case "subtype":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          subtype = try reader.readString()
        case "notificationUuid", "notification_uuid":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          notificationUuid = try reader.readString()
        case "signedDate", "signed_date":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          signedDate = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !eventId.isEmpty {
      writer.key("eventId")
      writer.string(eventId)
    }
    if !notificationType.isEmpty {
      writer.key("notificationType")
      writer.string(notificationType)
    }
    if let subtype {
      writer.key("subtype")
      writer.string(subtype)
    }
    if !notificationUuid.isEmpty {
      writer.key("notificationUuid")
      writer.string(notificationUuid)
    }
    if let signedDate {
      writer.key("signedDate")
      writer.string(signedDate.text)
    }
    writer.endObject()
  }
}

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
