// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// A named reader of the feed.
public struct Subscription: RPCMessage, Hashable {
  public var name: String
  /// Event types; all when empty.
  public var types: [String]
  /// beginning, now, time (start_time was given) or event (start_event_id was given).
  public var start: String
  public var createdAt: Timestamp?
  /// The number of events after the subscription's position that are not acknowledged. Events that the filter excludes are included until the
  /// subscription has skipped them.
  public var backlog: Int64?
  public var oldestUnacknowledgedAgeSeconds: Double?
  public var filter: EventFilter?
  /// The time at which the subscription started, if it did not start with beginning or now.
  public var startTime: Timestamp?
  public var startEventId: String?
  /// Present if the events are pushed.
  public var push: PushEndpoint?
  public var endpointStatus: EndpointStatus?
  /// Events that were dropped before they were acknowledged, because of the retention or the limit of the backlog.
  public var dropped: Int64?
  /// For pulled subscriptions: whether only one reader at a time has events of a subject.
  public var ordered: Bool?

  public init(
    name: String = "",
    types: [String] = [],
    start: String = "",
    createdAt: Timestamp? = nil,
    backlog: Int64? = nil,
    oldestUnacknowledgedAgeSeconds: Double? = nil,
    filter: EventFilter? = nil,
    startTime: Timestamp? = nil,
    startEventId: String? = nil,
    push: PushEndpoint? = nil,
    endpointStatus: EndpointStatus? = nil,
    dropped: Int64? = nil,
    ordered: Bool? = nil
  ) {
    self.name = name
    self.types = types
    self.start = start
    self.createdAt = createdAt
    self.backlog = backlog
    self.oldestUnacknowledgedAgeSeconds = oldestUnacknowledgedAgeSeconds
    self.filter = filter
    self.startTime = startTime
    self.startEventId = startEventId
    self.push = push
    self.endpointStatus = endpointStatus
    self.dropped = dropped
    self.ordered = ordered
  }

  public init() {
    self.name = ""
    self.types = []
    self.start = ""
    self.createdAt = nil
    self.backlog = nil
    self.oldestUnacknowledgedAgeSeconds = nil
    self.filter = nil
    self.startTime = nil
    self.startEventId = nil
    self.push = nil
    self.endpointStatus = nil
    self.dropped = nil
    self.ordered = nil
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
        case "filter":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          filter = try EventFilter(reading: &reader)
        case "startTime", "start_time":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          startTime = try reader.readTimestamp()
        case "startEventId", "start_event_id":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          startEventId = try reader.readString()
        case "push":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          push = try PushEndpoint(reading: &reader)
        case "endpointStatus", "endpoint_status":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          endpointStatus = try EndpointStatus(reading: &reader)
        case "dropped":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          dropped = try reader.readInt64()
        case "ordered":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          ordered = try reader.readBool()
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
    if let endpointStatus {
      writer.key("endpointStatus")
      endpointStatus.write(to: &writer)
    }
    if let dropped {
      writer.key("dropped")
      writer.int64(dropped)
    }
    if let ordered {
      writer.key("ordered")
      writer.bool(ordered)
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
  public var filter: EventFilter?
  /// In place of start: begins with events that were published at this time or later.
  public var startTime: Timestamp?
  /// In place of start: begins with this event and, in other shards, with events published in the same millisecond or later.
  public var startEventId: String?
  /// If present, events are pushed to this endpoint; otherwise they are pulled.
  public var push: PushEndpoint?
  /// Pulled subscriptions only: within a shard, the events of one subject are delivered in order and to one reader at a time. Later events
  /// follow only after the earlier ones were acknowledged. All events of a purchase are in one shard. Default false.
  public var ordered: Bool?

  public init(
    name: String? = nil,
    types: [String] = [],
    start: String? = nil,
    filter: EventFilter? = nil,
    startTime: Timestamp? = nil,
    startEventId: String? = nil,
    push: PushEndpoint? = nil,
    ordered: Bool? = nil
  ) {
    self.name = name
    self.types = types
    self.start = start
    self.filter = filter
    self.startTime = startTime
    self.startEventId = startEventId
    self.push = push
    self.ordered = ordered
  }

  public init() {
    self.name = nil
    self.types = []
    self.start = nil
    self.filter = nil
    self.startTime = nil
    self.startEventId = nil
    self.push = nil
    self.ordered = nil
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
        case "ordered":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          ordered = try reader.readBool()
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
    if let ordered {
      writer.key("ordered")
      writer.bool(ordered)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct CreateSubscriptionResponse: RPCMessage, Hashable {
  public var subscription: Subscription?
  /// The secret of a new push endpoint, with which its requests are verified: whsec_ and Base64. Only this answer contains it.
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
  /// 1 to 1,000; default 100.
  public var maxEvents: Int32?
  /// Up to 30,000; default 0.
  public var waitMilliseconds: Int32?
  /// 1 to 3,600; default 60.
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
