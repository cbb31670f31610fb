// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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

/// See `attribution/verifier/v1/verifier.proto`.
public struct SourceCount: RPCMessage, Hashable {
  public var adNetworkId: String
  /// With the digits that Apple sent; a campaign id for versions before 4.0.
  public var sourceIdentifier: String
  public var count: Int64?

  public init(
    adNetworkId: String = "",
    sourceIdentifier: String = "",
    count: Int64? = nil
  ) {
    self.adNetworkId = adNetworkId
    self.sourceIdentifier = sourceIdentifier
    self.count = count
  }

  public init() {
    self.adNetworkId = ""
    self.sourceIdentifier = ""
    self.count = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "adNetworkId", "ad_network_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "sourceIdentifier", "source_identifier":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          sourceIdentifier = try reader.readString()
        case "count":
          try seen.insert(2, key)
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
    if !adNetworkId.isEmpty {
      writer.key("adNetworkId")
      writer.string(adNetworkId)
    }
    if !sourceIdentifier.isEmpty {
      writer.key("sourceIdentifier")
      writer.string(sourceIdentifier)
    }
    if let count {
      writer.key("count")
      writer.int64(count)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct NotificationCount: RPCMessage, Hashable {
  public var bundleId: String
  public var notificationType: String
  public var count: Int64?

  public init(
    bundleId: String = "",
    notificationType: String = "",
    count: Int64? = nil
  ) {
    self.bundleId = bundleId
    self.notificationType = notificationType
    self.count = count
  }

  public init() {
    self.bundleId = ""
    self.notificationType = ""
    self.count = nil
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
        case "notificationType", "notification_type":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          notificationType = try reader.readString()
        case "count":
          try seen.insert(2, key)
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
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !notificationType.isEmpty {
      writer.key("notificationType")
      writer.string(notificationType)
    }
    if let count {
      writer.key("count")
      writer.int64(count)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetValueCountsResponse: RPCMessage, Hashable {
  public var conversions: [ConversionCount]
  public var sources: [SourceCount]
  public var notifications: [NotificationCount]
  /// Values that were not counted separately: a process counts 4,000 different values within an hour.
  public var others: Int64?

  public init(
    conversions: [ConversionCount] = [],
    sources: [SourceCount] = [],
    notifications: [NotificationCount] = [],
    others: Int64? = nil
  ) {
    self.conversions = conversions
    self.sources = sources
    self.notifications = notifications
    self.others = others
  }

  public init() {
    self.conversions = []
    self.sources = []
    self.notifications = []
    self.others = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "conversions":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          conversions = try reader.readList { (reader) throws(JSONError) in try ConversionCount(reading: &reader) }
        case "sources":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          sources = try reader.readList { (reader) throws(JSONError) in try SourceCount(reading: &reader) }
        case "notifications":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          notifications = try reader.readList { (reader) throws(JSONError) in try NotificationCount(reading: &reader) }
        case "others":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          others = try reader.readInt64()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !conversions.isEmpty {
      writer.key("conversions")
      writer.beginArray()
      for element in conversions { element.write(to: &writer) }
      writer.endArray()
    }
    if !sources.isEmpty {
      writer.key("sources")
      writer.beginArray()
      for element in sources { element.write(to: &writer) }
      writer.endArray()
    }
    if !notifications.isEmpty {
      writer.key("notifications")
      writer.beginArray()
      for element in notifications { element.write(to: &writer) }
      writer.endArray()
    }
    if let others {
      writer.key("others")
      writer.int64(others)
    }
    writer.endObject()
  }
}
