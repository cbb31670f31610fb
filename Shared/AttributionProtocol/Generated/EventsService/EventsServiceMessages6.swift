// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/events/v1/events.proto`.
public struct RotateEndpointSecretRequest: RPCMessage, Hashable {
  public var subscription: String?
  /// Removes the older secret immediately. Otherwise both secrets sign until a call with end_older. Until
  /// then, a call that would create a third secret is refused.
  public var endOlder: Bool?
  /// Creates no new secret; only removes the older one.
  public var makeNone: Bool?

  public init(
    subscription: String? = nil,
    endOlder: Bool? = nil,
    makeNone: Bool? = nil
  ) {
    self.subscription = subscription
    self.endOlder = endOlder
    self.makeNone = makeNone
  }

  public init() {
    self.subscription = nil
    self.endOlder = nil
    self.makeNone = nil
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
        case "endOlder", "end_older":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          endOlder = try reader.readBool()
        case "makeNone", "make_none":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          makeNone = try reader.readBool()
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
    if let endOlder {
      writer.key("endOlder")
      writer.bool(endOlder)
    }
    if let makeNone {
      writer.key("makeNone")
      writer.bool(makeNone)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct RotateEndpointSecretResponse: RPCMessage, Hashable {
  /// whsec_ and Base64; absent if none was created.
  public var secret: String?
  public var endpointStatus: EndpointStatus?

  public init(
    secret: String? = nil,
    endpointStatus: EndpointStatus? = nil
  ) {
    self.secret = secret
    self.endpointStatus = endpointStatus
  }

  public init() {
    self.secret = nil
    self.endpointStatus = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "secret":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          secret = try reader.readString()
        case "endpointStatus", "endpoint_status":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          endpointStatus = try EndpointStatus(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let secret {
      writer.key("secret")
      writer.string(secret)
    }
    if let endpointStatus {
      writer.key("endpointStatus")
      endpointStatus.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/events/v1/events.proto`.
public struct DeleteSubscriptionRequest: RPCMessage, Hashable {
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
public struct DeleteSubscriptionResponse: RPCMessage, Hashable {
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
