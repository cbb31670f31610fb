// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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
  /// The newest form that this worker knows.
  public var form: Int32
  /// The time since it last asked for messages.
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

/// See `attribution/queues/v1/queues.proto`.
public struct StoreState: RPCMessage, Hashable {
  public var form: Int32
  /// The newest form that the answering service's build knows.
  public var newestForm: Int32
  /// Shards of all queues that still use another form; 0 if every instance has switched.
  public var shardsBehind: Int32?
  public var outdatedWorkers: [OutdatedWorker]

  public init(
    form: Int32 = 0,
    newestForm: Int32 = 0,
    shardsBehind: Int32? = nil,
    outdatedWorkers: [OutdatedWorker] = []
  ) {
    self.form = form
    self.newestForm = newestForm
    self.shardsBehind = shardsBehind
    self.outdatedWorkers = outdatedWorkers
  }

  public init() {
    self.form = 0
    self.newestForm = 0
    self.shardsBehind = nil
    self.outdatedWorkers = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "form":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          form = try reader.readInt32()
        case "newestForm", "newest_form":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          newestForm = try reader.readInt32()
        case "shardsBehind", "shards_behind":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          shardsBehind = try reader.readInt32()
        case "outdatedWorkers", "outdated_workers":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          outdatedWorkers = try reader.readList { (reader) throws(JSONError) in try OutdatedWorker(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if form != 0 {
      writer.key("form")
      writer.int(form)
    }
    if newestForm != 0 {
      writer.key("newestForm")
      writer.int(newestForm)
    }
    if let shardsBehind {
      writer.key("shardsBehind")
      writer.int(shardsBehind)
    }
    if !outdatedWorkers.isEmpty {
      writer.key("outdatedWorkers")
      writer.beginArray()
      for element in outdatedWorkers { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct GetStoreFormRequest: RPCMessage, Hashable {
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
