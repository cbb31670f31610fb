// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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
