// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/queues/v1/queues.proto`.
public struct GetQueueHistoryResponse: RPCMessage, Hashable {
  /// Oldest first; minutes in which no verifier ran are missing.
  public var moments: [QueueMoment]

  public init(
    moments: [QueueMoment] = []
  ) {
    self.moments = moments
  }

  public init() {
    self.moments = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "moments":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          moments = try reader.readList { (reader) throws(JSONError) in try QueueMoment(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !moments.isEmpty {
      writer.key("moments")
      writer.beginArray()
      for element in moments { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ListDeadLettersRequest: RPCMessage, Hashable {
  public var queue: String?
  /// Up to 1,000; default 100.
  public var maxLetters: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?

  public init(
    queue: String? = nil,
    maxLetters: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.queue = queue
    self.maxLetters = maxLetters
    self.pageToken = pageToken
  }

  public init() {
    self.queue = nil
    self.maxLetters = nil
    self.pageToken = nil
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
        case "maxLetters", "max_letters":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxLetters = try reader.readInt32()
        case "pageToken", "page_token":
          try seen.insert(2, key)
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
    if let queue {
      writer.key("queue")
      writer.string(queue)
    }
    if let maxLetters {
      writer.key("maxLetters")
      writer.int(maxLetters)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ListDeadLettersResponse: RPCMessage, Hashable {
  public var deadLetters: [DeadLetter]
  /// Absent on the last page.
  public var nextPageToken: String?

  public init(
    deadLetters: [DeadLetter] = [],
    nextPageToken: String? = nil
  ) {
    self.deadLetters = deadLetters
    self.nextPageToken = nextPageToken
  }

  public init() {
    self.deadLetters = []
    self.nextPageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "deadLetters", "dead_letters":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          deadLetters = try reader.readList { (reader) throws(JSONError) in try DeadLetter(reading: &reader) }
        case "nextPageToken", "next_page_token":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          nextPageToken = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !deadLetters.isEmpty {
      writer.key("deadLetters")
      writer.beginArray()
      for element in deadLetters { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct GetDeadLetterRequest: RPCMessage, Hashable {
  public var id: String?
  /// Returns only dead letters of this queue; of all queues if absent.
  public var queue: String?

  public init(
    id: String? = nil,
    queue: String? = nil
  ) {
    self.id = id
    self.queue = queue
  }

  public init() {
    self.id = nil
    self.queue = nil
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
    if let queue {
      writer.key("queue")
      writer.string(queue)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct GetDeadLetterResponse: RPCMessage, Hashable {
  public var deadLetter: DeadLetter?
  /// The body as it was received, in Base64.
  public var body: String?
  /// public, recovery or rpc.
  public var source: String?
  /// The attributes of the message.
  public var attributes: JSONObject?
  /// The trace context and the id of the request that delivered it.
  public var traceparent: String?
  public var requestId: String?

  public init(
    deadLetter: DeadLetter? = nil,
    body: String? = nil,
    source: String? = nil,
    attributes: JSONObject? = nil,
    traceparent: String? = nil,
    requestId: String? = nil
  ) {
    self.deadLetter = deadLetter
    self.body = body
    self.source = source
    self.attributes = attributes
    self.traceparent = traceparent
    self.requestId = requestId
  }

  public init() {
    self.deadLetter = nil
    self.body = nil
    self.source = nil
    self.attributes = nil
    self.traceparent = nil
    self.requestId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "deadLetter", "dead_letter":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          deadLetter = try DeadLetter(reading: &reader)
        case "body":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          body = try reader.readString()
        case "source":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          source = try reader.readString()
        case "attributes":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          attributes = try reader.readObjectValue()
        case "traceparent":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          traceparent = try reader.readString()
        case "requestId", "request_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          requestId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let deadLetter {
      writer.key("deadLetter")
      deadLetter.write(to: &writer)
    }
    if let body {
      writer.key("body")
      writer.string(body)
    }
    if let source {
      writer.key("source")
      writer.string(source)
    }
    if let attributes {
      writer.key("attributes")
      writer.object(attributes)
    }
    if let traceparent {
      writer.key("traceparent")
      writer.string(traceparent)
    }
    if let requestId {
      writer.key("requestId")
      writer.string(requestId)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct ReplayDeadLettersRequest: RPCMessage, Hashable {
  public var queue: String?
  /// Only these ids; all of the queue if empty.
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
