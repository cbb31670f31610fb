// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// A named reader of the feed.
public struct Subscription: RPCMessage, Hashable {
  public var name: String
  /// Event types; all when empty.
  public var types: [String]
  /// beginning or now.
  public var start: String
  public var createdAt: Timestamp?
  /// Events not yet acknowledged.
  public var backlog: Int64?
  public var oldestUnacknowledgedAgeSeconds: Double?

  public init(
    name: String = "",
    types: [String] = [],
    start: String = "",
    createdAt: Timestamp? = nil,
    backlog: Int64? = nil,
    oldestUnacknowledgedAgeSeconds: Double? = nil
  ) {
    self.name = name
    self.types = types
    self.start = start
    self.createdAt = createdAt
    self.backlog = backlog
    self.oldestUnacknowledgedAgeSeconds = oldestUnacknowledgedAgeSeconds
  }

  public init() {
    self.name = ""
    self.types = []
    self.start = ""
    self.createdAt = nil
    self.backlog = nil
    self.oldestUnacknowledgedAgeSeconds = nil
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
        case "types":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          types = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "start":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          start = try reader.readString()
        case "createdAt", "created_at":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          createdAt = try reader.readTimestamp()
        case "backlog":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          backlog = try reader.readInt64()
        case "oldestUnacknowledgedAgeSeconds", "oldest_unacknowledged_age_seconds":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          oldestUnacknowledgedAgeSeconds = try reader.readDouble()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !name.isEmpty {
      writer.key("name")
      writer.string(name)
    }
    if !types.isEmpty {
      writer.key("types")
      writer.beginArray()
      for element in types { writer.string(element) }
      writer.endArray()
    }
    if !start.isEmpty {
      writer.key("start")
      writer.string(start)
    }
    if let createdAt {
      writer.key("createdAt")
      writer.string(createdAt.text)
    }
    if let backlog {
      writer.key("backlog")
      writer.int64(backlog)
    }
    if let oldestUnacknowledgedAgeSeconds {
      writer.key("oldestUnacknowledgedAgeSeconds")
      writer.double(oldestUnacknowledgedAgeSeconds)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct CreateSubscriptionRequest: RPCMessage, Hashable {
  /// 1 to 64 of A-Z a-z 0-9 . _ -
  public var name: String?
  public var types: [String]
  /// beginning (default) or now.
  public var start: String?

  public init(
    name: String? = nil,
    types: [String] = [],
    start: String? = nil
  ) {
    self.name = name
    self.types = types
    self.start = start
  }

  public init() {
    self.name = nil
    self.types = []
    self.start = nil
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
        case "types":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          types = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "start":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          start = try reader.readString()
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
    if !types.isEmpty {
      writer.key("types")
      writer.beginArray()
      for element in types { writer.string(element) }
      writer.endArray()
    }
    if let start {
      writer.key("start")
      writer.string(start)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct CreateSubscriptionResponse: RPCMessage, Hashable {
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
public struct PullEventsRequest: RPCMessage, Hashable {
  public var subscription: String?
  /// 1 to 1,000; 100 when absent.
  public var maxEvents: Int32?
  /// Up to 30,000; 0 when absent.
  public var waitMilliseconds: Int32?
  /// 1 to 3,600; 60 when absent.
  public var leaseSeconds: Int32?

  public init(
    subscription: String? = nil,
    maxEvents: Int32? = nil,
    waitMilliseconds: Int32? = nil,
    leaseSeconds: Int32? = nil
  ) {
    self.subscription = subscription
    self.maxEvents = maxEvents
    self.waitMilliseconds = waitMilliseconds
    self.leaseSeconds = leaseSeconds
  }

  public init() {
    self.subscription = nil
    self.maxEvents = nil
    self.waitMilliseconds = nil
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
        case "maxEvents", "max_events":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxEvents = try reader.readInt32()
        case "waitMilliseconds", "wait_milliseconds":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          waitMilliseconds = try reader.readInt32()
        case "leaseSeconds", "lease_seconds":
          try seen.insert(3, key)
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
    if let maxEvents {
      writer.key("maxEvents")
      writer.int(maxEvents)
    }
    if let waitMilliseconds {
      writer.key("waitMilliseconds")
      writer.int(waitMilliseconds)
    }
    if let leaseSeconds {
      writer.key("leaseSeconds")
      writer.int(leaseSeconds)
    }
    writer.endObject()
  }
}

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
