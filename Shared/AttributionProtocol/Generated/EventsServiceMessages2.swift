// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/events/v1/events.proto`.
public struct CreateSubscriptionRequest: RPCMessage, Hashable {
  /// 1 to 64 of A-Z a-z 0-9 . _ -
  public var name: String?
  public var types: [String]
  /// beginning (default) or now.
  public var start: String?
  public var filter: EventFilter?
  /// Instead of start: events that were published at this time or later.
  public var startTime: Timestamp?
  /// Instead of start: this event and what was published after it.
  public var startEventId: String?
  /// Has events posted instead of being pulled.
  public var push: PushEndpoint?

  public init(
    name: String? = nil,
    types: [String] = [],
    start: String? = nil,
    filter: EventFilter? = nil,
    startTime: Timestamp? = nil,
    startEventId: String? = nil,
    push: PushEndpoint? = nil
  ) {
    self.name = name
    self.types = types
    self.start = start
    self.filter = filter
    self.startTime = startTime
    self.startEventId = startEventId
    self.push = push
  }

  public init() {
    self.name = nil
    self.types = []
    self.start = nil
    self.filter = nil
    self.startTime = nil
    self.startEventId = nil
    self.push = nil
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
        case "filter":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          filter = try EventFilter(reading: &reader)
        case "startTime", "start_time":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          startTime = try reader.readTimestamp()
        case "startEventId", "start_event_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          startEventId = try reader.readString()
        case "push":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          push = try PushEndpoint(reading: &reader)
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
    if let filter {
      writer.key("filter")
      filter.write(to: &writer)
    }
    if let startTime {
      writer.key("startTime")
      writer.string(startTime.text)
    }
    if let startEventId {
      writer.key("startEventId")
      writer.string(startEventId)
    }
    if let push {
      writer.key("push")
      push.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct CreateSubscriptionResponse: RPCMessage, Hashable {
  public var subscription: Subscription?
  /// Of a new push endpoint: the secret that verifies its requests, whsec_ and base64. It is told here alone.
  public var secret: String?

  public init(
    subscription: Subscription? = nil,
    secret: String? = nil
  ) {
    self.subscription = subscription
    self.secret = secret
  }

  public init() {
    self.subscription = nil
    self.secret = nil
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
        case "secret":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          secret = try reader.readString()
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
    if let secret {
      writer.key("secret")
      writer.string(secret)
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
