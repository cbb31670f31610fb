// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// A transaction id and the place where it was found.
public struct FoundTransactionId: RPCMessage, Hashable {
  public var id: String
  /// originalTransactionId or transactionId.
  public var kind: String
  /// The receipt field or JSON path.
  public var location: String

  public init(
    id: String = "",
    kind: String = "",
    location: String = ""
  ) {
    self.id = id
    self.kind = kind
    self.location = location
  }

  public init() {
    self.id = ""
    self.kind = ""
    self.location = ""
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
        case "kind":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "location":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          location = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !id.isEmpty {
      writer.key("id")
      writer.string(id)
    }
    if !kind.isEmpty {
      writer.key("kind")
      writer.string(kind)
    }
    if !location.isEmpty {
      writer.key("location")
      writer.string(location)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct ExtractTransactionIdsResponse: RPCMessage, Hashable {
  public var originalTransactionIds: [String]
  public var transactionIds: [String]
  public var found: [FoundTransactionId]
  /// True if there are more ids than the limit; the answer has the first ones. Any one of them is enough to query Apple about the customer.
  public var truncated: Bool

  public init(
    originalTransactionIds: [String] = [],
    transactionIds: [String] = [],
    found: [FoundTransactionId] = [],
    truncated: Bool = false
  ) {
    self.originalTransactionIds = originalTransactionIds
    self.transactionIds = transactionIds
    self.found = found
    self.truncated = truncated
  }

  public init() {
    self.originalTransactionIds = []
    self.transactionIds = []
    self.found = []
    self.truncated = false
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "originalTransactionIds", "original_transaction_ids":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          originalTransactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "transactionIds", "transaction_ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          transactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "found":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          found = try reader.readList { (reader) throws(JSONError) in try FoundTransactionId(reading: &reader) }
        case "truncated":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          truncated = try reader.readBool()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !originalTransactionIds.isEmpty {
      writer.key("originalTransactionIds")
      writer.beginArray()
      for element in originalTransactionIds { writer.string(element) }
      writer.endArray()
    }
    if !transactionIds.isEmpty {
      writer.key("transactionIds")
      writer.beginArray()
      for element in transactionIds { writer.string(element) }
      writer.endArray()
    }
    if !found.isEmpty {
      writer.key("found")
      writer.beginArray()
      for element in found { element.write(to: &writer) }
      writer.endArray()
    }
    if truncated {
      writer.key("truncated")
      writer.bool(truncated)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct DecodeExternalPurchaseTokenRequest: RPCMessage, Hashable {
  /// The token, unchanged: a JSON object in Base64URL.
  public var token: String?

  public init(
    token: String? = nil
  ) {
    self.token = token
  }

  public init() {
    self.token = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "token":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          token = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let token {
      writer.key("token")
      writer.string(token)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct DecodeExternalPurchaseTokenResponse: RPCMessage, Hashable {
  /// The complete object.
  public var token: JSONObject?
  /// Production or Sandbox, determined by the form of externalPurchaseId.
  public var environment: String
  /// When the device's system created the token.
  public var createdAt: Timestamp?
  /// When a custom link token expires.
  public var expiresAt: Timestamp?
  /// Whether a custom link token has expired; absent for other tokens.
  public var expired: Bool?

  public init(
    token: JSONObject? = nil,
    environment: String = "",
    createdAt: Timestamp? = nil,
    expiresAt: Timestamp? = nil,
    expired: Bool? = nil
  ) {
    self.token = token
    self.environment = environment
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.expired = expired
  }

  public init() {
    self.token = nil
    self.environment = ""
    self.createdAt = nil
    self.expiresAt = nil
    self.expired = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "token":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          token = try reader.readObjectValue()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "createdAt", "created_at":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          createdAt = try reader.readTimestamp()
        case "expiresAt", "expires_at":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          expiresAt = try reader.readTimestamp()
        case "expired":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          expired = try reader.readBool()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let token {
      writer.key("token")
      writer.object(token)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    if let createdAt {
      writer.key("createdAt")
      writer.string(createdAt.text)
    }
    if let expiresAt {
      writer.key("expiresAt")
      writer.string(expiresAt.text)
    }
    if let expired {
      writer.key("expired")
      writer.bool(expired)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetDeliveryCountsRequest: RPCMessage, Hashable {
  /// minute (default) or hour.
  public var period: String?
  /// The number of periods up to now: 1 to 1,440 minutes, default 60; 1 to 168 hours, default 24.
  public var periods: Int32?

  public init(
    period: String? = nil,
    periods: Int32? = nil
  ) {
    self.period = period
    self.periods = periods
  }

  public init() {
    self.period = nil
    self.periods = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "period":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          period = try reader.readString()
        case "periods":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          periods = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let period {
      writer.key("period")
      writer.string(period)
    }
    if let periods {
      writer.key("periods")
      writer.int(periods)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct DeliveryCount: RPCMessage, Hashable {
  /// skadnetwork-postback, adattributionkit-postback, notification, adservices-token, session and others.
  public var kind: String
  /// verified, rejected, duplicate, done or dead.
  public var verdict: String
  /// The reason of a rejection.
  public var reason: String?
  public var count: Int64?

  public init(
    kind: String = "",
    verdict: String = "",
    reason: String? = nil,
    count: Int64? = nil
  ) {
    self.kind = kind
    self.verdict = verdict
    self.reason = reason
    self.count = count
  }

  public init() {
    self.kind = ""
    self.verdict = ""
    self.reason = nil
    self.count = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "kind":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "verdict":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          verdict = try reader.readString()
        case "reason":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "count":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          count = try reader.readInt64()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !kind.isEmpty {
      writer.key("kind")
      writer.string(kind)
    }
    if !verdict.isEmpty {
      writer.key("verdict")
      writer.string(verdict)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let count {
      writer.key("count")
      writer.int64(count)
    }
    writer.endObject()
  }
}
