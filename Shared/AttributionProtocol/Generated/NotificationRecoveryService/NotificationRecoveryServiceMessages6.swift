// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetTransactionHistoryRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// Any transaction id of the customer: a transactionId, an originalTransactionId or an appTransactionId.
  public var transactionId: String?
  public var revision: String?
  public var startDate: Int64?
  public var endDate: Int64?
  public var productId: [String]
  public var productType: [String]
  public var subscriptionGroupIdentifier: [String]
  public var inAppOwnershipType: String?
  public var sort: String?
  public var revoked: Bool?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil,
    revision: String? = nil,
    startDate: Int64? = nil,
    endDate: Int64? = nil,
    productId: [String] = [],
    productType: [String] = [],
    subscriptionGroupIdentifier: [String] = [],
    inAppOwnershipType: String? = nil,
    sort: String? = nil,
    revoked: Bool? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
    self.revision = revision
    self.startDate = startDate
    self.endDate = endDate
    self.productId = productId
    self.productType = productType
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.inAppOwnershipType = inAppOwnershipType
    self.sort = sort
    self.revoked = revoked
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
    self.revision = nil
    self.startDate = nil
    self.endDate = nil
    self.productId = []
    self.productType = []
    self.subscriptionGroupIdentifier = []
    self.inAppOwnershipType = nil
    self.sort = nil
    self.revoked = nil
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
        case "revision":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          revision = try reader.readString()
        case "startDate", "start_date":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          startDate = try reader.readInt64()
        case "endDate", "end_date":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          endDate = try reader.readInt64()
        case "productId", "product_id":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          productId = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "productType", "product_type":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          productType = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "subscriptionGroupIdentifier", "subscription_group_identifier":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          subscriptionGroupIdentifier = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "inAppOwnershipType", "in_app_ownership_type":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          inAppOwnershipType = try reader.readString()
        case "sort":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          sort = try reader.readString()
        case "revoked":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          revoked = try reader.readBool()
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
    if let revision {
      writer.key("revision")
      writer.string(revision)
    }
    if let startDate {
      writer.key("startDate")
      writer.int64(startDate)
    }
    if let endDate {
      writer.key("endDate")
      writer.int64(endDate)
    }
    if !productId.isEmpty {
      writer.key("productId")
      writer.beginArray()
      for element in productId { writer.string(element) }
      writer.endArray()
    }
    if !productType.isEmpty {
      writer.key("productType")
      writer.beginArray()
      for element in productType { writer.string(element) }
      writer.endArray()
    }
    if !subscriptionGroupIdentifier.isEmpty {
      writer.key("subscriptionGroupIdentifier")
      writer.beginArray()
      for element in subscriptionGroupIdentifier { writer.string(element) }
      writer.endArray()
    }
    if let inAppOwnershipType {
      writer.key("inAppOwnershipType")
      writer.string(inAppOwnershipType)
    }
    if let sort {
      writer.key("sort")
      writer.string(sort)
    }
    if let revoked {
      writer.key("revoked")
      writer.bool(revoked)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetTransactionHistoryResponse: RPCMessage, Hashable {
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
public struct GetTransactionInfoRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// The id of one transaction. Apple refuses an appTransactionId here.
  public var transactionId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
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
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetTransactionInfoResponse: RPCMessage, Hashable {
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
public struct LookUpOrderRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production, which is also the default: Apple does not look up orders of the sandbox.
  public var environment: String?
  public var orderId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    orderId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.orderId = orderId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.orderId = nil
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
        case "orderId", "order_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          orderId = try reader.readString()
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
    if let orderId {
      writer.key("orderId")
      writer.string(orderId)
    }
    writer.endObject()
  }
}
