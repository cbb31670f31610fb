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

/// A notification whose Advanced Commerce information names the call, or that reports the call's kind of change of the same purchase.
public struct AdvancedCommerceNotification: RPCMessage, Hashable {
  /// An id for GetEvent.
  public var eventId: String
  public var notificationType: String
  public var subtype: String?
  public var notificationUuid: String
  public var signedDate: Timestamp?
  /// requestReferenceId: the notification names the call. purchase: it names no call of this service, but reports this kind of change (METADATA_UPDATE,
  /// MIGRATION or PRICE_CHANGE) of the same purchase after the call began, and Apple did not refuse the call; another call of the same kind may have caused it.
  public var joinedBy: String

  public init(
    eventId: String = "",
    notificationType: String = "",
    subtype: String? = nil,
    notificationUuid: String = "",
    signedDate: Timestamp? = nil,
    joinedBy: String = ""
  ) {
    self.eventId = eventId
    self.notificationType = notificationType
    self.subtype = subtype
    self.notificationUuid = notificationUuid
    self.signedDate = signedDate
    self.joinedBy = joinedBy
  }

  public init() {
    self.eventId = ""
    self.notificationType = ""
    self.subtype = nil
    self.notificationUuid = ""
    self.signedDate = nil
    self.joinedBy = ""
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
        case "joinedBy", "joined_by":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          joinedBy = try reader.readString()
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
    if !joinedBy.isEmpty {
      writer.key("joinedBy")
      writer.string(joinedBy)
    }
    writer.endObject()
  }
}
