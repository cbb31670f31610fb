// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// An event, and the token with which it is acknowledged.
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
  /// The number of events that this call acknowledged.
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
public struct ListEventsRequest: RPCMessage, Hashable {
  /// Event types; all when empty.
  public var types: [String]
  public var filter: EventFilter?
  /// Events that were published at this time or later; default: from the oldest stored event.
  public var startTime: Timestamp?
  /// Events that were published before this time; default, and latest possible value: the time of the call.
  public var endTime: Timestamp?
  /// 1 to 1,000; default 100.
  public var maxEvents: Int32?
  /// next_page_token of the previous page. Range and filter must be the same.
  public var pageToken: String?

  public init(
    types: [String] = [],
    filter: EventFilter? = nil,
    startTime: Timestamp? = nil,
    endTime: Timestamp? = nil,
    maxEvents: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.types = types
    self.filter = filter
    self.startTime = startTime
    self.endTime = endTime
    self.maxEvents = maxEvents
    self.pageToken = pageToken
  }

  public init() {
    self.types = []
    self.filter = nil
    self.startTime = nil
    self.endTime = nil
    self.maxEvents = nil
    self.pageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "types":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          types = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "filter":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          filter = try EventFilter(reading: &reader)
        case "startTime", "start_time":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          startTime = try reader.readTimestamp()
        case "endTime", "end_time":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          endTime = try reader.readTimestamp()
        case "maxEvents", "max_events":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          maxEvents = try reader.readInt32()
        case "pageToken", "page_token":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          pageToken = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !types.isEmpty {
      writer.key("types")
      writer.beginArray()
      for element in types { writer.string(element) }
      writer.endArray()
    }
    if let filter {
      writer.key("filter")
      filter.write(to: &writer)
    }
    if let startTime {
      writer.key("startTime")
      writer.string(startTime.text)
    }
    if let endTime {
      writer.key("endTime")
      writer.string(endTime.text)
    }
    if let maxEvents {
      writer.key("maxEvents")
      writer.int(maxEvents)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct ListEventsResponse: RPCMessage, Hashable {
  /// CloudEvents 1.0 in their JSON format. A page may be empty although there is a next page.
  public var events: [JSONObject]
  /// Absent on the last page.
  public var nextPageToken: String?
  /// All events before this time have been returned.
  public var reached: Timestamp?

  public init(
    events: [JSONObject] = [],
    nextPageToken: String? = nil,
    reached: Timestamp? = nil
  ) {
    self.events = events
    self.nextPageToken = nextPageToken
    self.reached = reached
  }

  public init() {
    self.events = []
    self.nextPageToken = nil
    self.reached = nil
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
          events = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "nextPageToken", "next_page_token":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          nextPageToken = try reader.readString()
        case "reached":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          reached = try reader.readTimestamp()
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
      for element in events { writer.object(element) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    if let reached {
      writer.key("reached")
      writer.string(reached.text)
    }
    writer.endObject()
  }
}
