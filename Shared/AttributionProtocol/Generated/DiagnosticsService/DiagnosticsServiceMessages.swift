// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// The result of one check.
public struct Finding: RPCMessage, Hashable {
  /// redis, redis-settings, redis-memory, redis-persistence, clock, certificate, apple, responder or signer.
  public var check: String
  /// ok, warning or failed.
  public var state: String
  /// What was checked: a host, the listener of a certificate, a setting. Never an address with credentials.
  public var subject: String?
  /// The result in words.
  public var found: String
  /// What to do; absent if the state is ok.
  public var advice: String?

  public init(
    check: String = "",
    state: String = "",
    subject: String? = nil,
    found: String = "",
    advice: String? = nil
  ) {
    self.check = check
    self.state = state
    self.subject = subject
    self.found = found
    self.advice = advice
  }

  public init() {
    self.check = ""
    self.state = ""
    self.subject = nil
    self.found = ""
    self.advice = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "check":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          check = try reader.readString()
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "subject":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          subject = try reader.readString()
        case "found":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          found = try reader.readString()
        case "advice":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          advice = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !check.isEmpty {
      writer.key("check")
      writer.string(check)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let subject {
      writer.key("subject")
      writer.string(subject)
    }
    if !found.isEmpty {
      writer.key("found")
      writer.string(found)
    }
    if let advice {
      writer.key("advice")
      writer.string(advice)
    }
    writer.endObject()
  }
}

/// See `attribution/diagnostics/v1/diagnostics.proto`.
public struct DiagnoseRequest: RPCMessage, Hashable {
  /// Make only local checks: call no other server.
  public var localOnly: Bool?

  public init(
    localOnly: Bool? = nil
  ) {
    self.localOnly = localOnly
  }

  public init() {
    self.localOnly = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "localOnly", "local_only":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          localOnly = try reader.readBool()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let localOnly {
      writer.key("localOnly")
      writer.bool(localOnly)
    }
    writer.endObject()
  }
}

/// See `attribution/diagnostics/v1/diagnostics.proto`.
public struct DiagnoseResponse: RPCMessage, Hashable {
  public var service: String
  public var version: String
  public var commit: String
  /// The service's clock at the time of the answer.
  public var now: Timestamp?
  public var startedAt: Timestamp?
  public var findings: [Finding]

  public init(
    service: String = "",
    version: String = "",
    commit: String = "",
    now: Timestamp? = nil,
    startedAt: Timestamp? = nil,
    findings: [Finding] = []
  ) {
    self.service = service
    self.version = version
    self.commit = commit
    self.now = now
    self.startedAt = startedAt
    self.findings = findings
  }

  public init() {
    self.service = ""
    self.version = ""
    self.commit = ""
    self.now = nil
    self.startedAt = nil
    self.findings = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "service":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          service = try reader.readString()
        case "version":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          version = try reader.readString()
        case "commit":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          commit = try reader.readString()
        case "now":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          now = try reader.readTimestamp()
        case "startedAt", "started_at":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          startedAt = try reader.readTimestamp()
        case "findings":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          findings = try reader.readList { (reader) throws(JSONError) in try Finding(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !service.isEmpty {
      writer.key("service")
      writer.string(service)
    }
    if !version.isEmpty {
      writer.key("version")
      writer.string(version)
    }
    if !commit.isEmpty {
      writer.key("commit")
      writer.string(commit)
    }
    if let now {
      writer.key("now")
      writer.string(now.text)
    }
    if let startedAt {
      writer.key("startedAt")
      writer.string(startedAt.text)
    }
    if !findings.isEmpty {
      writer.key("findings")
      writer.beginArray()
      for element in findings { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
