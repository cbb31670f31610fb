// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct CancelMigrationRequest: RPCMessage, Hashable {
  public var migrationId: String?

  public init(
    migrationId: String? = nil
  ) {
    self.migrationId = migrationId
  }

  public init() {
    self.migrationId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "migrationId", "migration_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          migrationId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let migrationId {
      writer.key("migrationId")
      writer.string(migrationId)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct CancelMigrationResponse: RPCMessage, Hashable {
  public var migration: Migration?

  public init(
    migration: Migration? = nil
  ) {
    self.migration = migration
  }

  public init() {
    self.migration = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "migration":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          migration = try Migration(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let migration {
      writer.key("migration")
      migration.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct FinishTransactionRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// The id of one transaction. Apple refuses an appTransactionId here.
  public var transactionId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    transactionId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.transactionId = nil
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
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
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
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct FinishTransactionResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged.
  public var response: JSONObject?
  /// The verified payloads of the JWS in Apple's answer, in their order.
  public var decoded: [JSONObject]
  /// The environment that answered.
  public var environment: String

  public init(
    response: JSONObject? = nil,
    decoded: [JSONObject] = [],
    environment: String = ""
  ) {
    self.response = response
    self.decoded = decoded
    self.environment = environment
  }

  public init() {
    self.response = nil
    self.decoded = []
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "response":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "decoded":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          decoded = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "environment":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let response {
      writer.key("response")
      writer.object(response)
    }
    if !decoded.isEmpty {
      writer.key("decoded")
      writer.beginArray()
      for element in decoded { writer.object(element) }
      writer.endArray()
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
