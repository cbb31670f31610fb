// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/events/v1/events.proto`.
public struct ModifyLeaseRequest: RPCMessage, Hashable {
  public var subscription: String?
  public var ackIds: [String]
  /// The new duration of the leases from now on, 1 to 3,600. 0 ends the leases, and the events are delivered again immediately.
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
  /// The number of events that were still leased and whose leases were changed.
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

/// Set exactly one of time, event_id and end.
public struct SeekSubscriptionRequest: RPCMessage, Hashable {
  public var subscription: String?
  /// Continues with events that were published at this time or later.
  public var time: Timestamp?
  /// Continues with this event and, in other shards, with events published in the same millisecond or later.
  public var eventId: String?
  /// Continues with events that are published from now on.
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

/// See `attribution/events/v1/events.proto`.
public struct UpdateEndpointRequest: RPCMessage, Hashable {
  public var subscription: String?
  /// The settings to change; absent ones stay unchanged.
  public var push: PushEndpoint?
  /// Fields of push to remove: maxPerSecond, maxConcurrent.
  public var clear: [String]

  public init(
    subscription: String? = nil,
    push: PushEndpoint? = nil,
    clear: [String] = []
  ) {
    self.subscription = subscription
    self.push = push
    self.clear = clear
  }

  public init() {
    self.subscription = nil
    self.push = nil
    self.clear = []
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
        case "push":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          push = try PushEndpoint(reading: &reader)
        case "clear":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          clear = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
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
    if let push {
      writer.key("push")
      push.write(to: &writer)
    }
    if !clear.isEmpty {
      writer.key("clear")
      writer.beginArray()
      for element in clear { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct UpdateEndpointResponse: RPCMessage, Hashable {
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
public struct EnableEndpointRequest: RPCMessage, Hashable {
  public var subscription: String?
  /// Replays events that were published at this time or later. If absent, the subscription continues where it stopped.
  public var replayFrom: Timestamp?

  public init(
    subscription: String? = nil,
    replayFrom: Timestamp? = nil
  ) {
    self.subscription = subscription
    self.replayFrom = replayFrom
  }

  public init() {
    self.subscription = nil
    self.replayFrom = nil
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
        case "replayFrom", "replay_from":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          replayFrom = try reader.readTimestamp()
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
    if let replayFrom {
      writer.key("replayFrom")
      writer.string(replayFrom.text)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct EnableEndpointResponse: RPCMessage, Hashable {
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
