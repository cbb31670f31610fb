// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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

/// See `attribution/verifier/v1/verifier.proto`.
public struct DeliveryPeriod: RPCMessage, Hashable {
  public var start: Timestamp?
  /// Empty if no delivery ended in this period.
  public var counts: [DeliveryCount]

  public init(
    start: Timestamp? = nil,
    counts: [DeliveryCount] = []
  ) {
    self.start = start
    self.counts = counts
  }

  public init() {
    self.start = nil
    self.counts = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "start":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          start = try reader.readTimestamp()
        case "counts":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          counts = try reader.readList { (reader) throws(JSONError) in try DeliveryCount(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let start {
      writer.key("start")
      writer.string(start.text)
    }
    if !counts.isEmpty {
      writer.key("counts")
      writer.beginArray()
      for element in counts { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetDeliveryCountsResponse: RPCMessage, Hashable {
  /// Oldest first; the last period is not complete.
  public var periods: [DeliveryPeriod]

  public init(
    periods: [DeliveryPeriod] = []
  ) {
    self.periods = periods
  }

  public init() {
    self.periods = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "periods":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          periods = try reader.readList { (reader) throws(JSONError) in try DeliveryPeriod(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !periods.isEmpty {
      writer.key("periods")
      writer.beginArray()
      for element in periods { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetValueCountsRequest: RPCMessage, Hashable {
  /// The number of hours up to now, including the current one: 1 to 168; default 24.
  public var hours: Int32?

  public init(
    hours: Int32? = nil
  ) {
    self.hours = hours
  }

  public init() {
    self.hours = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "hours":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          hours = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let hours {
      writer.key("hours")
      writer.int(hours)
    }
    writer.endObject()
  }
}

/// Postbacks of an app with one conversion value, or without one.
public struct ConversionCount: RPCMessage, Hashable {
  public var appAppleId: Int64?
  /// 0 to 63.
  public var fineValue: Int32?
  /// low, medium or high.
  public var coarseValue: String?
  public var count: Int64?

  public init(
    appAppleId: Int64? = nil,
    fineValue: Int32? = nil,
    coarseValue: String? = nil,
    count: Int64? = nil
  ) {
    self.appAppleId = appAppleId
    self.fineValue = fineValue
    self.coarseValue = coarseValue
    self.count = count
  }

  public init() {
    self.appAppleId = nil
    self.fineValue = nil
    self.coarseValue = nil
    self.count = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "appAppleId", "app_apple_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          appAppleId = try reader.readInt64()
        case "fineValue", "fine_value":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          fineValue = try reader.readInt32()
        case "coarseValue", "coarse_value":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          coarseValue = try reader.readString()
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
    if let appAppleId {
      writer.key("appAppleId")
      writer.int64(appAppleId)
    }
    if let fineValue {
      writer.key("fineValue")
      writer.int(fineValue)
    }
    if let coarseValue {
      writer.key("coarseValue")
      writer.string(coarseValue)
    }
    if let count {
      writer.key("count")
      writer.int64(count)
    }
    writer.endObject()
  }
}
