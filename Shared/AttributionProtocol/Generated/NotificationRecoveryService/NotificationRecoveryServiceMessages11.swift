// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetMigrationRequest: RPCMessage, Hashable {
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
public struct GetMigrationResponse: RPCMessage, Hashable {
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
public struct ListMigrationsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Up to 1,000; default 100.
  public var maxMigrations: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?

  public init(
    bundleId: String? = nil,
    maxMigrations: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.bundleId = bundleId
    self.maxMigrations = maxMigrations
    self.pageToken = pageToken
  }

  public init() {
    self.bundleId = nil
    self.maxMigrations = nil
    self.pageToken = nil
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
        case "maxMigrations", "max_migrations":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxMigrations = try reader.readInt32()
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
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let maxMigrations {
      writer.key("maxMigrations")
      writer.int(maxMigrations)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListMigrationsResponse: RPCMessage, Hashable {
  /// Newest first.
  public var migrations: [Migration]
  /// Absent on the last page.
  public var nextPageToken: String?

  public init(
    migrations: [Migration] = [],
    nextPageToken: String? = nil
  ) {
    self.migrations = migrations
    self.nextPageToken = nextPageToken
  }

  public init() {
    self.migrations = []
    self.nextPageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "migrations":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          migrations = try reader.readList { (reader) throws(JSONError) in try Migration(reading: &reader) }
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
    if !migrations.isEmpty {
      writer.key("migrations")
      writer.beginArray()
      for element in migrations { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigrationFailure: RPCMessage, Hashable {
  /// The receipt's id from the request.
  public var id: String?
  /// malformed-receipt, no-transaction (Apple does not know it), refused, signed-data-invalid or wrong-app.
  public var reason: String
  public var message: String
  /// Apple's error number: an errorCode, or the status in verifyReceipt's answer.
  public var errorCode: Int64?
  public var transactionIds: [String]
  public var failedAt: Timestamp?

  public init(
    id: String? = nil,
    reason: String = "",
    message: String = "",
    errorCode: Int64? = nil,
    transactionIds: [String] = [],
    failedAt: Timestamp? = nil
  ) {
    self.id = id
    self.reason = reason
    self.message = message
    self.errorCode = errorCode
    self.transactionIds = transactionIds
    self.failedAt = failedAt
  }

  public init() {
    self.id = nil
    self.reason = ""
    self.message = ""
    self.errorCode = nil
    self.transactionIds = []
    self.failedAt = nil
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
        case "reason":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "message":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          message = try reader.readString()
        case "errorCode", "error_code":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          errorCode = try reader.readInt64()
        case "transactionIds", "transaction_ids":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          transactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "failedAt", "failed_at":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          failedAt = try reader.readTimestamp()
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
    if !reason.isEmpty {
      writer.key("reason")
      writer.string(reason)
    }
    if !message.isEmpty {
      writer.key("message")
      writer.string(message)
    }
    if let errorCode {
      writer.key("errorCode")
      writer.int64(errorCode)
    }
    if !transactionIds.isEmpty {
      writer.key("transactionIds")
      writer.beginArray()
      for element in transactionIds { writer.string(element) }
      writer.endArray()
    }
    if let failedAt {
      writer.key("failedAt")
      writer.string(failedAt.text)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListMigrationFailuresRequest: RPCMessage, Hashable {
  public var migrationId: String?
  /// Up to 1,000; default 100.
  public var maxFailures: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?

  public init(
    migrationId: String? = nil,
    maxFailures: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.migrationId = migrationId
    self.maxFailures = maxFailures
    self.pageToken = pageToken
  }

  public init() {
    self.migrationId = nil
    self.maxFailures = nil
    self.pageToken = nil
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
        case "maxFailures", "max_failures":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxFailures = try reader.readInt32()
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
    if let migrationId {
      writer.key("migrationId")
      writer.string(migrationId)
    }
    if let maxFailures {
      writer.key("maxFailures")
      writer.int(maxFailures)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListMigrationFailuresResponse: RPCMessage, Hashable {
  /// Oldest first.
  public var failures: [MigrationFailure]
  /// Absent on the last page.
  public var nextPageToken: String?
  /// The number of failures that were counted but not stored, because the limit was reached.
  public var notKept: Int64?

  public init(
    failures: [MigrationFailure] = [],
    nextPageToken: String? = nil,
    notKept: Int64? = nil
  ) {
    self.failures = failures
    self.nextPageToken = nextPageToken
    self.notKept = notKept
  }

  public init() {
    self.failures = []
    self.nextPageToken = nil
    self.notKept = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "failures":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          failures = try reader.readList { (reader) throws(JSONError) in try MigrationFailure(reading: &reader) }
        case "nextPageToken", "next_page_token":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          nextPageToken = try reader.readString()
        case "notKept", "not_kept":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          notKept = try reader.readInt64()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !failures.isEmpty {
      writer.key("failures")
      writer.beginArray()
      for element in failures { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    if let notKept {
      writer.key("notKept")
      writer.int64(notKept)
    }
    writer.endObject()
  }
}
