// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/queues/v1/queues.proto`.
public struct QueueState: RPCMessage, Hashable {
  public var name: String
  /// Ready messages that no worker holds.
  public var depth: Int64?
  public var inFlight: Int64?
  public var delayed: Int64?
  public var dead: Int64?
  public var oldestAgeSeconds: Double?
  public var paused: Bool?

  public init(
    name: String = "",
    depth: Int64? = nil,
    inFlight: Int64? = nil,
    delayed: Int64? = nil,
    dead: Int64? = nil,
    oldestAgeSeconds: Double? = nil,
    paused: Bool? = nil
  ) {
    self.name = name
    self.depth = depth
    self.inFlight = inFlight
    self.delayed = delayed
    self.dead = dead
    self.oldestAgeSeconds = oldestAgeSeconds
    self.paused = paused
  }

  public init() {
    self.name = ""
    self.depth = nil
    self.inFlight = nil
    self.delayed = nil
    self.dead = nil
    self.oldestAgeSeconds = nil
    self.paused = nil
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
        case "depth":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          depth = try reader.readInt64()
        case "inFlight", "in_flight":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          inFlight = try reader.readInt64()
        case "delayed":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          delayed = try reader.readInt64()
        case "dead":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          dead = try reader.readInt64()
        case "oldestAgeSeconds", "oldest_age_seconds":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          oldestAgeSeconds = try reader.readDouble()
        case "paused":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          paused = try reader.readBool()
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
    if let depth {
      writer.key("depth")
      writer.int64(depth)
    }
    if let inFlight {
      writer.key("inFlight")
      writer.int64(inFlight)
    }
    if let delayed {
      writer.key("delayed")
      writer.int64(delayed)
    }
    if let dead {
      writer.key("dead")
      writer.int64(dead)
    }
    if let oldestAgeSeconds {
      writer.key("oldestAgeSeconds")
      writer.double(oldestAgeSeconds)
    }
    if let paused {
      writer.key("paused")
      writer.bool(paused)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ListQueuesRequest: RPCMessage, Hashable {
  /// Returns only this queue.
  public var queue: String?

  public init(
    queue: String? = nil
  ) {
    self.queue = queue
  }

  public init() {
    self.queue = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "queue":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          queue = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let queue {
      writer.key("queue")
      writer.string(queue)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ListQueuesResponse: RPCMessage, Hashable {
  public var queues: [QueueState]

  public init(
    queues: [QueueState] = []
  ) {
    self.queues = queues
  }

  public init() {
    self.queues = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "queues":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          queues = try reader.readList { (reader) throws(JSONError) in try QueueState(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !queues.isEmpty {
      writer.key("queues")
      writer.beginArray()
      for element in queues { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct DeadLetter: RPCMessage, Hashable {
  public var id: String
  public var queue: String
  public var kind: String
  public var attempts: Int32?
  public var receivedAt: Timestamp?
  public var diedAt: Timestamp?
  public var lastError: String
  /// The history of the message, oldest entry first.
  public var history: [String]

  public init(
    id: String = "",
    queue: String = "",
    kind: String = "",
    attempts: Int32? = nil,
    receivedAt: Timestamp? = nil,
    diedAt: Timestamp? = nil,
    lastError: String = "",
    history: [String] = []
  ) {
    self.id = id
    self.queue = queue
    self.kind = kind
    self.attempts = attempts
    self.receivedAt = receivedAt
    self.diedAt = diedAt
    self.lastError = lastError
    self.history = history
  }

  public init() {
    self.id = ""
    self.queue = ""
    self.kind = ""
    self.attempts = nil
    self.receivedAt = nil
    self.diedAt = nil
    self.lastError = ""
    self.history = []
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
        case "queue":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          queue = try reader.readString()
        case "kind":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "attempts":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          attempts = try reader.readInt32()
        case "receivedAt", "received_at":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          receivedAt = try reader.readTimestamp()
        case "diedAt", "died_at":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          diedAt = try reader.readTimestamp()
        case "lastError", "last_error":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "history":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          history = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
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
    if let receivedAt {
      writer.key("receivedAt")
      writer.string(receivedAt.text)
    }
    if let diedAt {
      writer.key("diedAt")
      writer.string(diedAt.text)
    }
    if !lastError.isEmpty {
      writer.key("lastError")
      writer.string(lastError)
    }
    if !history.isEmpty {
      writer.key("history")
      writer.beginArray()
      for element in history { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct GetQueueHistoryRequest: RPCMessage, Hashable {
  /// Returns only this queue; all if absent.
  public var queue: String?
  /// The number of minutes up to now: 1 to 1,440; default 60.
  public var minutes: Int32?

  public init(
    queue: String? = nil,
    minutes: Int32? = nil
  ) {
    self.queue = queue
    self.minutes = minutes
  }

  public init() {
    self.queue = nil
    self.minutes = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "queue":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          queue = try reader.readString()
        case "minutes":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          minutes = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let queue {
      writer.key("queue")
      writer.string(queue)
    }
    if let minutes {
      writer.key("minutes")
      writer.int(minutes)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct QueueMoment: RPCMessage, Hashable {
  /// The minute's beginning.
  public var start: Timestamp?
  public var queues: [QueueState]

  public init(
    start: Timestamp? = nil,
    queues: [QueueState] = []
  ) {
    self.start = start
    self.queues = queues
  }

  public init() {
    self.start = nil
    self.queues = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "start":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          start = try reader.readTimestamp()
        case "queues":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          queues = try reader.readList { (reader) throws(JSONError) in try QueueState(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let start {
      writer.key("start")
      writer.string(start.text)
    }
    if !queues.isEmpty {
      writer.key("queues")
      writer.beginArray()
      for element in queues { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
