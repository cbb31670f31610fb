// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// The events of a subscription: those that match every list that is not empty. An event without the value that a list checks does not match.
public struct EventFilter: RPCMessage, Hashable {
  /// Ad network ids, such as example123.skadnetwork.
  public var adNetworkIds: [String]
  /// Apps, by Apple id or by bundle id.
  public var apps: [String]
  /// production, sandbox or development.
  public var environments: [String]

  public init(
    adNetworkIds: [String] = [],
    apps: [String] = [],
    environments: [String] = []
  ) {
    self.adNetworkIds = adNetworkIds
    self.apps = apps
    self.environments = environments
  }

  public init() {
    self.adNetworkIds = []
    self.apps = []
    self.environments = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "adNetworkIds", "ad_network_ids":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          adNetworkIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "apps":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          apps = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "environments":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          environments = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !adNetworkIds.isEmpty {
      writer.key("adNetworkIds")
      writer.beginArray()
      for element in adNetworkIds { writer.string(element) }
      writer.endArray()
    }
    if !apps.isEmpty {
      writer.key("apps")
      writer.beginArray()
      for element in apps { writer.string(element) }
      writer.endArray()
    }
    if !environments.isEmpty {
      writer.key("environments")
      writer.beginArray()
      for element in environments { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// The URL to which events are pushed, and how.
public struct PushEndpoint: RPCMessage, Hashable {
  /// An https URL; http only if the configuration allows it.
  public var url: String?
  /// structured (default) or binary, as CloudEvents defines them; original: the bytes and the content type that Apple sent.
  public var form: String?
  /// Whether events of one subject are posted in order: each is posted after the previous one was accepted. Default false.
  public var ordered: Bool?
  /// Events a second, 1 to 10,000; no limit if absent.
  public var maxPerSecond: Int32?
  /// Concurrent requests, 1 to 64; default 8.
  public var maxConcurrent: Int32?

  public init(
    url: String? = nil,
    form: String? = nil,
    ordered: Bool? = nil,
    maxPerSecond: Int32? = nil,
    maxConcurrent: Int32? = nil
  ) {
    self.url = url
    self.form = form
    self.ordered = ordered
    self.maxPerSecond = maxPerSecond
    self.maxConcurrent = maxConcurrent
  }

  public init() {
    self.url = nil
    self.form = nil
    self.ordered = nil
    self.maxPerSecond = nil
    self.maxConcurrent = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "url":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          url = try reader.readString()
        case "form":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          form = try reader.readString()
        case "ordered":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          ordered = try reader.readBool()
        case "maxPerSecond", "max_per_second":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          maxPerSecond = try reader.readInt32()
        case "maxConcurrent", "max_concurrent":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          maxConcurrent = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let url {
      writer.key("url")
      writer.string(url)
    }
    if let form {
      writer.key("form")
      writer.string(form)
    }
    if let ordered {
      writer.key("ordered")
      writer.bool(ordered)
    }
    if let maxPerSecond {
      writer.key("maxPerSecond")
      writer.int(maxPerSecond)
    }
    if let maxConcurrent {
      writer.key("maxConcurrent")
      writer.int(maxConcurrent)
    }
    writer.endObject()
  }
}

/// The state of an endpoint.
public struct EndpointStatus: RPCMessage, Hashable {
  /// enabled, disabled or gone (it answered 410).
  public var state: String
  /// When this state began.
  public var since: Timestamp?
  /// Why the endpoint is not enabled.
  public var reason: String?
  /// When the endpoint last accepted an event.
  public var lastSuccess: Timestamp?
  /// The time from which every request failed; absent if the last one succeeded.
  public var failingSince: Timestamp?
  /// The last failed request: its HTTP status, or the error of the connection.
  public var lastError: String?
  /// The creation times of the secrets that sign, newest first.
  public var secretsMadeAt: [Timestamp]
  /// Until when nothing is posted because of the endpoint's Retry-After; absent if there is none.
  public var retryAt: Timestamp?

  public init(
    state: String = "",
    since: Timestamp? = nil,
    reason: String? = nil,
    lastSuccess: Timestamp? = nil,
    failingSince: Timestamp? = nil,
    lastError: String? = nil,
    secretsMadeAt: [Timestamp] = [],
    retryAt: Timestamp? = nil
  ) {
    self.state = state
    self.since = since
    self.reason = reason
    self.lastSuccess = lastSuccess
    self.failingSince = failingSince
    self.lastError = lastError
    self.secretsMadeAt = secretsMadeAt
    self.retryAt = retryAt
  }

  public init() {
    self.state = ""
    self.since = nil
    self.reason = nil
    self.lastSuccess = nil
    self.failingSince = nil
    self.lastError = nil
    self.secretsMadeAt = []
    self.retryAt = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "state":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "since":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          since = try reader.readTimestamp()
        case "reason":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "lastSuccess", "last_success":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          lastSuccess = try reader.readTimestamp()
        case "failingSince", "failing_since":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          failingSince = try reader.readTimestamp()
        case "lastError", "last_error":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "secretsMadeAt", "secrets_made_at":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          secretsMadeAt = try reader.readList { (reader) throws(JSONError) in try reader.readTimestamp() }
        case "retryAt", "retry_at":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          retryAt = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let since {
      writer.key("since")
      writer.string(since.text)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let lastSuccess {
      writer.key("lastSuccess")
      writer.string(lastSuccess.text)
    }
    if let failingSince {
      writer.key("failingSince")
      writer.string(failingSince.text)
    }
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    if !secretsMadeAt.isEmpty {
      writer.key("secretsMadeAt")
      writer.beginArray()
      for element in secretsMadeAt { writer.string(element.text) }
      writer.endArray()
    }
    if let retryAt {
      writer.key("retryAt")
      writer.string(retryAt.text)
    }
    writer.endObject()
  }
}
