// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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

/// See `attribution/events/v1/events.proto`.
public struct ModifyLeaseRequest: RPCMessage, Hashable {
  public var subscription: String?
  public var ackIds: [String]
  /// From now on, 1 to 3,600; 0 gives the events back, to be handed out at once.
  public var leaseSeconds: Int32?

  public init(
    subscription: String? = nil,
    ackIds: [String] = [],
    leaseSeconds: Int32? = nil
  ) {
    self.subscription = subscription
    self.ackIds = ackIds
    self.leaseSeconds = leaseSeconds
  }

  public init() {
    self.subscription = nil
    self.ackIds = []
    self.leaseSeconds = nil
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
        case "leaseSeconds", "lease_seconds":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          leaseSeconds = try reader.readInt32()
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
    if let leaseSeconds {
      writer.key("leaseSeconds")
      writer.int(leaseSeconds)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct ModifyLeaseResponse: RPCMessage, Hashable {
  /// How many were still leased, and are as asked now.
  public var modified: Int32?

  public init(
    modified: Int32? = nil
  ) {
    self.modified = modified
  }

  public init() {
    self.modified = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "modified":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          modified = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let modified {
      writer.key("modified")
      writer.int(modified)
    }
    writer.endObject()
  }
}

/// One of time, event_id and end.
public struct SeekSubscriptionRequest: RPCMessage, Hashable {
  public var subscription: String?
  /// Events that were published at this time or later.
  public var time: Timestamp?
  /// This event and what was published after it.
  public var eventId: String?
  /// Only what is published from now on.
  public var end: Bool?

  public init(
    subscription: String? = nil,
    time: Timestamp? = nil,
    eventId: String? = nil,
    end: Bool? = nil
  ) {
    self.subscription = subscription
    self.time = time
    self.eventId = eventId
    self.end = end
  }

  public init() {
    self.subscription = nil
    self.time = nil
    self.eventId = nil
    self.end = nil
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
        case "time":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          time = try reader.readTimestamp()
        case "eventId", "event_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          eventId = try reader.readString()
        case "end":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          end = try reader.readBool()
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
    if let time {
      writer.key("time")
      writer.string(time.text)
    }
    if let eventId {
      writer.key("eventId")
      writer.string(eventId)
    }
    if let end {
      writer.key("end")
      writer.bool(end)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct SeekSubscriptionResponse: RPCMessage, Hashable {
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
