// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/events/v1/events.proto`.
public struct GetDeliveryStoryRequest: RPCMessage, Hashable {
  /// The id from the public route's answer.
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

/// One step in the history of a delivery.
public struct DeliveryStep: RPCMessage, Hashable {
  /// Absent if only the order of the steps is known.
  public var time: Timestamp?
  /// accepted, attempt, waiting, delayed, verified, rejected, done, dead or published.
  public var step: String
  public var detail: String?

  public init(
    time: Timestamp? = nil,
    step: String = "",
    detail: String? = nil
  ) {
    self.time = time
    self.step = step
    self.detail = detail
  }

  public init() {
    self.time = nil
    self.step = ""
    self.detail = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "time":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          time = try reader.readTimestamp()
        case "step":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          step = try reader.readString()
        case "detail":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          detail = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let time {
      writer.key("time")
      writer.string(time.text)
    }
    if !step.isEmpty {
      writer.key("step")
      writer.string(step)
    }
    if let detail {
      writer.key("detail")
      writer.string(detail)
    }
    writer.endObject()
  }
}

/// The state of an event in one subscription.
public struct EventReader: RPCMessage, Hashable {
  public var subscription: String
  /// unwanted (excluded by the subscription's types or filter), waiting, leased or done.
  public var state: String

  public init(
    subscription: String = "",
    state: String = ""
  ) {
    self.subscription = subscription
    self.state = state
  }

  public init() {
    self.subscription = ""
    self.state = ""
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
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !subscription.isEmpty {
      writer.key("subscription")
      writer.string(subscription)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct GetDeliveryStoryResponse: RPCMessage, Hashable {
  public var id: String
  /// The same value as in GetDelivery.
  public var state: String
  public var queue: String
  public var kind: String
  public var attempts: Int32?
  public var reason: String?
  public var lastError: String?
  /// Oldest first.
  public var steps: [DeliveryStep]
  /// Present while the feed keeps the event.
  public var event: JSONObject?
  /// One for each subscription; present while the feed keeps the event.
  public var readers: [EventReader]

  public init(
    id: String = "",
    state: String = "",
    queue: String = "",
    kind: String = "",
    attempts: Int32? = nil,
    reason: String? = nil,
    lastError: String? = nil,
    steps: [DeliveryStep] = [],
    event: JSONObject? = nil,
    readers: [EventReader] = []
  ) {
    self.id = id
    self.state = state
    self.queue = queue
    self.kind = kind
    self.attempts = attempts
    self.reason = reason
    self.lastError = lastError
    self.steps = steps
    self.event = event
    self.readers = readers
  }

  public init() {
    self.id = ""
    self.state = ""
    self.queue = ""
    self.kind = ""
    self.attempts = nil
    self.reason = nil
    self.lastError = nil
    self.steps = []
    self.event = nil
    self.readers = []
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
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "queue":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          queue = try reader.readString()
        case "kind":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "attempts":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          attempts = try reader.readInt32()
        case "reason":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "lastError", "last_error":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "steps":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          steps = try reader.readList { (reader) throws(JSONError) in try DeliveryStep(reading: &reader) }
        case "event":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          event = try reader.readObjectValue()
        case "readers":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          readers = try reader.readList { (reader) throws(JSONError) in try EventReader(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !id.isEmpty {
      writer.key("id")
      writer.string(id)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if !queue.isEmpty {
      writer.key("queue")
      writer.string(queue)
    }
    if !kind.isEmpty {
      writer.key("kind")
      writer.string(kind)
    }
    if let attempts {
      writer.key("attempts")
      writer.int(attempts)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    if !steps.isEmpty {
      writer.key("steps")
      writer.beginArray()
      for element in steps { element.write(to: &writer) }
      writer.endArray()
    }
    if let event {
      writer.key("event")
      writer.object(event)
    }
    if !readers.isEmpty {
      writer.key("readers")
      writer.beginArray()
      for element in readers { element.write(to: &writer) }
      writer.endArray()
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
