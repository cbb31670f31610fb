// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// An event and what to acknowledge it with.
public struct PulledEvent: RPCMessage, Hashable {
  public var ackId: String
  /// A CloudEvent 1.0 in its JSON format.
  public var event: JSONObject?

  public init(
    ackId: String = "",
    event: JSONObject? = nil
  ) {
    self.ackId = ackId
    self.event = event
  }

  public init() {
    self.ackId = ""
    self.event = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "ackId", "ack_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          ackId = try reader.readString()
        case "event":
          try seen.insert(1, key)
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
    if !ackId.isEmpty {
      writer.key("ackId")
      writer.string(ackId)
    }
    if let event {
      writer.key("event")
      writer.object(event)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct PullEventsResponse: RPCMessage, Hashable {
  public var events: [PulledEvent]

  public init(
    events: [PulledEvent] = []
  ) {
    self.events = events
  }

  public init() {
    self.events = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "events":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          events = try reader.readList { (reader) throws(JSONError) in try PulledEvent(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !events.isEmpty {
      writer.key("events")
      writer.beginArray()
      for element in events { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct AcknowledgeEventsRequest: RPCMessage, Hashable {
  public var subscription: String?
  public var ackIds: [String]

  public init(
    subscription: String? = nil,
    ackIds: [String] = []
  ) {
    self.subscription = subscription
    self.ackIds = ackIds
  }

  public init() {
    self.subscription = nil
    self.ackIds = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "subscription":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          subscription = try reader.readString()
        case "ackIds", "ack_ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          ackIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let subscription {
      writer.key("subscription")
      writer.string(subscription)
    }
    if !ackIds.isEmpty {
      writer.key("ackIds")
      writer.beginArray()
      for element in ackIds { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

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
public struct GetSubscriptionRequest: RPCMessage, Hashable {
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
public struct GetSubscriptionResponse: RPCMessage, Hashable {
  public var subscription: Subscription?

  public init(
    subscription: Subscription? = nil
  ) {
    self.subscription = subscription
  }

  public init() {
    self.subscription = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "subscription":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          subscription = try Subscription(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let subscription {
      writer.key("subscription")
      subscription.write(to: &writer)
    }
    writer.endObject()
  }
}
