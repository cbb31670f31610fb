// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/ingest/v1/ingest.proto`.
public struct GetDeliveryRequest: RPCMessage, Hashable {
  /// As the public route answered it.
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

/// See `attribution/ingest/v1/ingest.proto`.
public struct GetDeliveryResponse: RPCMessage, Hashable {
  public var id: String
  /// accepted, verified, rejected or dead.
  public var state: String
  public var acceptedAt: Timestamp?
  public var completedAt: Timestamp?
  public var attempts: Int32?
  public var eventId: String?
  public var reason: String?
  public var lastError: String?
  public var queue: String?
  public var kind: String?
  /// Of a rejected delivery, as it came, in Base64, while it is kept.
  public var body: String?

  public init(
    id: String = "",
    state: String = "",
    acceptedAt: Timestamp? = nil,
    completedAt: Timestamp? = nil,
    attempts: Int32? = nil,
    eventId: String? = nil,
    reason: String? = nil,
    lastError: String? = nil,
    queue: String? = nil,
    kind: String? = nil,
    body: String? = nil
  ) {
    self.id = id
    self.state = state
    self.acceptedAt = acceptedAt
    self.completedAt = completedAt
    self.attempts = attempts
    self.eventId = eventId
    self.reason = reason
    self.lastError = lastError
    self.queue = queue
    self.kind = kind
    self.body = body
  }

  public init() {
    self.id = ""
    self.state = ""
    self.acceptedAt = nil
    self.completedAt = nil
    self.attempts = nil
    self.eventId = nil
    self.reason = nil
    self.lastError = nil
    self.queue = nil
    self.kind = nil
    self.body = nil
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
        case "acceptedAt", "accepted_at":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          acceptedAt = try reader.readTimestamp()
        case "completedAt", "completed_at":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          completedAt = try reader.readTimestamp()
        case "attempts":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          attempts = try reader.readInt32()
        case "eventId", "event_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          eventId = try reader.readString()
        case "reason":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "lastError", "last_error":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "queue":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          queue = try reader.readString()
        case "kind":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "body":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          body = try reader.readString()
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
    if let acceptedAt {
      writer.key("acceptedAt")
      writer.string(acceptedAt.text)
    }
    if let completedAt {
      writer.key("completedAt")
      writer.string(completedAt.text)
    }
    if let attempts {
      writer.key("attempts")
      writer.int(attempts)
    }
    if let eventId {
      writer.key("eventId")
      writer.string(eventId)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    if let queue {
      writer.key("queue")
      writer.string(queue)
    }
    if let kind {
      writer.key("kind")
      writer.string(kind)
    }
    if let body {
      writer.key("body")
      writer.string(body)
    }
    writer.endObject()
  }
}
