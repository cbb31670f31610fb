// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/ingest/v1/ingest.proto`.
public struct GetDeliveryRequest: RPCMessage, Hashable {
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

/// See `attribution/ingest/v1/ingest.proto`.
public struct GetAttStatusRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// The SDK's id of the install.
  public var installId: String?

  public init(
    bundleId: String? = nil,
    installId: String? = nil
  ) {
    self.bundleId = bundleId
    self.installId = installId
  }

  public init() {
    self.bundleId = nil
    self.installId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "installId", "install_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          installId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let installId {
      writer.key("installId")
      writer.string(installId)
    }
    writer.endObject()
  }
}

/// See `attribution/ingest/v1/ingest.proto`.
public struct GetAttStatusResponse: RPCMessage, Hashable {
  /// ATTrackingManager.AuthorizationStatus: 0 to 3. Another value ended a consent: -1 if the app could not read its status or reported
  /// two that contradict each other, else the value that the app reported.
  public var attStatus: Int32?
  /// Whether this status is consent.
  public var consent: Bool?
  /// The device's time of the status, limited to the time of receipt.
  public var determinedAt: Timestamp?
  public var receivedAt: Timestamp?
  /// The time since it was received.
  public var ageSeconds: Double?
  /// The time until which sessions wait for the user's answer; absent if none wait.
  public var heldUntil: Timestamp?

  public init(
    attStatus: Int32? = nil,
    consent: Bool? = nil,
    determinedAt: Timestamp? = nil,
    receivedAt: Timestamp? = nil,
    ageSeconds: Double? = nil,
    heldUntil: Timestamp? = nil
  ) {
    self.attStatus = attStatus
    self.consent = consent
    self.determinedAt = determinedAt
    self.receivedAt = receivedAt
    self.ageSeconds = ageSeconds
    self.heldUntil = heldUntil
  }

  public init() {
    self.attStatus = nil
    self.consent = nil
    self.determinedAt = nil
    self.receivedAt = nil
    self.ageSeconds = nil
    self.heldUntil = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "attStatus", "att_status":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          attStatus = try reader.readInt32()
        case "consent":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          consent = try reader.readBool()
        case "determinedAt", "determined_at":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          determinedAt = try reader.readTimestamp()
        case "receivedAt", "received_at":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          receivedAt = try reader.readTimestamp()
        case "ageSeconds", "age_seconds":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          ageSeconds = try reader.readDouble()
        case "heldUntil", "held_until":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          heldUntil = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let attStatus {
      writer.key("attStatus")
      writer.int(attStatus)
    }
    if let consent {
      writer.key("consent")
      writer.bool(consent)
    }
    if let determinedAt {
      writer.key("determinedAt")
      writer.string(determinedAt.text)
    }
    if let receivedAt {
      writer.key("receivedAt")
      writer.string(receivedAt.text)
    }
    if let ageSeconds {
      writer.key("ageSeconds")
      writer.double(ageSeconds)
    }
    if let heldUntil {
      writer.key("heldUntil")
      writer.string(heldUntil.text)
    }
    writer.endObject()
  }
}

/// See `attribution/ingest/v1/ingest.proto`.
public struct GetDeliveryResponse: RPCMessage, Hashable {
  public var id: String
  /// accepted, verified, rejected, dead or done. Work that verifies nothing ends as done, for example a delivered session, a resolved
  /// token, a gap, a migration or a report.
  public var state: String
  public var acceptedAt: Timestamp?
  public var completedAt: Timestamp?
  public var attempts: Int32?
  public var eventId: String?
  public var reason: String?
  public var lastError: String?
  public var queue: String?
  public var kind: String?
  /// The body of a rejected delivery, unchanged, in Base64; present while it is stored.
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
