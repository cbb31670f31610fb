// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/events/v1/events.proto`.
public struct AcknowledgeEventsResponse: RPCMessage, Hashable {
  /// How many were acknowledged now.
  public var acknowledged: Int32?

  public init(
    acknowledged: Int32? = nil
  ) {
    self.acknowledged = acknowledged
  }

  public init() {
    self.acknowledged = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "acknowledged":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          acknowledged = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let acknowledged {
      writer.key("acknowledged")
      writer.int(acknowledged)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct GetEventRequest: RPCMessage, Hashable {
  public var id: String?

  public init(
    id: String? = nil
  ) {
    self.id = id
  }

  public init() {
    self.id = nil
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
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct GetEventResponse: RPCMessage, Hashable {
  public var event: JSONObject?

  public init(
    event: JSONObject? = nil
  ) {
    self.event = event
  }

  public init() {
    self.event = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "event":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          event = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let event {
      writer.key("event")
      writer.object(event)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct ListSubscriptionsRequest: RPCMessage, Hashable {
  public init() {}

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      throw JSONError(.unknownField, path: key)
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct ListSubscriptionsResponse: RPCMessage, Hashable {
  public var subscriptions: [Subscription]

  public init(
    subscriptions: [Subscription] = []
  ) {
    self.subscriptions = subscriptions
  }

  public init() {
    self.subscriptions = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "subscriptions":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          subscriptions = try reader.readList { (reader) throws(JSONError) in try Subscription(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !subscriptions.isEmpty {
      writer.key("subscriptions")
      writer.beginArray()
      for element in subscriptions { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct DeleteSubscriptionRequest: RPCMessage, Hashable {
  public var name: String?

  public init(
    name: String? = nil
  ) {
    self.name = name
  }

  public init() {
    self.name = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "name":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          name = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let name {
      writer.key("name")
      writer.string(name)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct DeleteSubscriptionResponse: RPCMessage, Hashable {
  public init() {}

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      throw JSONError(.unknownField, path: key)
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.endObject()
  }
}
