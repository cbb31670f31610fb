// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/queues/v1/queues.proto`.
public struct ReplayDeadLettersRequest: RPCMessage, Hashable {
  public var queue: String?
  /// Only these; all of the queue when empty.
  public var ids: [String]

  public init(
    queue: String? = nil,
    ids: [String] = []
  ) {
    self.queue = queue
    self.ids = ids
  }

  public init() {
    self.queue = nil
    self.ids = []
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
        case "ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          ids = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
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
    if !ids.isEmpty {
      writer.key("ids")
      writer.beginArray()
      for element in ids { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ReplayDeadLettersResponse: RPCMessage, Hashable {
  public var replayed: Int32?

  public init(
    replayed: Int32? = nil
  ) {
    self.replayed = replayed
  }

  public init() {
    self.replayed = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "replayed":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          replayed = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let replayed {
      writer.key("replayed")
      writer.int(replayed)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct PurgeDeadLettersRequest: RPCMessage, Hashable {
  public var queue: String?
  public var ids: [String]

  public init(
    queue: String? = nil,
    ids: [String] = []
  ) {
    self.queue = queue
    self.ids = ids
  }

  public init() {
    self.queue = nil
    self.ids = []
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
        case "ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          ids = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
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
    if !ids.isEmpty {
      writer.key("ids")
      writer.beginArray()
      for element in ids { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct PurgeDeadLettersResponse: RPCMessage, Hashable {
  public var purged: Int32?

  public init(
    purged: Int32? = nil
  ) {
    self.purged = purged
  }

  public init() {
    self.purged = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "purged":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          purged = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let purged {
      writer.key("purged")
      writer.int(purged)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct PauseQueueRequest: RPCMessage, Hashable {
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
public struct PauseQueueResponse: RPCMessage, Hashable {
  public var queue: QueueState?

  public init(
    queue: QueueState? = nil
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
          queue = try QueueState(reading: &reader)
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
      queue.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ResumeQueueRequest: RPCMessage, Hashable {
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
public struct ResumeQueueResponse: RPCMessage, Hashable {
  public var queue: QueueState?

  public init(
    queue: QueueState? = nil
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
          queue = try QueueState(reading: &reader)
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
      queue.write(to: &writer)
    }
    writer.endObject()
  }
}

/// A worker whose build does not know the newest form.
public struct OutdatedWorker: RPCMessage, Hashable {
  public var queue: String
  public var name: String
  /// The newest form that it knows.
  public var form: Int32
  /// Since it last asked for messages.
  public var idleSeconds: Double?

  public init(
    queue: String = "",
    name: String = "",
    form: Int32 = 0,
    idleSeconds: Double? = nil
  ) {
    self.queue = queue
    self.name = name
    self.form = form
    self.idleSeconds = idleSeconds
  }

  public init() {
    self.queue = ""
    self.name = ""
    self.form = 0
    self.idleSeconds = nil
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
        case "name":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          name = try reader.readString()
        case "form":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          form = try reader.readInt32()
        case "idleSeconds", "idle_seconds":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          idleSeconds = try reader.readDouble()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !queue.isEmpty {
      writer.key("queue")
      writer.string(queue)
    }
    if !name.isEmpty {
      writer.key("name")
      writer.string(name)
    }
    if form != 0 {
      writer.key("form")
      writer.int(form)
    }
    if let idleSeconds {
      writer.key("idleSeconds")
      writer.double(idleSeconds)
    }
    writer.endObject()
  }
}
