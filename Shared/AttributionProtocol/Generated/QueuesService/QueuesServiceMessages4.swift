// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/queues/v1/queues.proto`.
public struct GetStoreFormResponse: RPCMessage, Hashable {
  public var store: StoreState?

  public init(
    store: StoreState? = nil
  ) {
    self.store = store
  }

  public init() {
    self.store = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "store":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          store = try StoreState(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let store {
      writer.key("store")
      store.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct SetStoreFormRequest: RPCMessage, Hashable {
  public var form: Int32?
  /// Switches even if there are workers that do not know the form; these then get no more messages.
  public var force: Bool?

  public init(
    form: Int32? = nil,
    force: Bool? = nil
  ) {
    self.form = form
    self.force = force
  }

  public init() {
    self.form = nil
    self.force = nil
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
        case "force":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          force = try reader.readBool()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let form {
      writer.key("form")
      writer.int(form)
    }
    if let force {
      writer.key("force")
      writer.bool(force)
    }
    writer.endObject()
  }
}

/// See `attribution/queues/v1/queues.proto`.
public struct SetStoreFormResponse: RPCMessage, Hashable {
  public var store: StoreState?

  public init(
    store: StoreState? = nil
  ) {
    self.store = store
  }

  public init() {
    self.store = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "store":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          store = try StoreState(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let store {
      writer.key("store")
      store.write(to: &writer)
    }
    writer.endObject()
  }
}
