// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigrateReceiptsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox. If absent, production is queried first, and the sandbox if only it knows the id.
  public var environment: String?
  /// Up to 1,000.
  public var receipts: [ReceiptToMigrate]
  /// Adds the receipts to this migration: 1 to 64 of A-Z a-z 0-9 . _ -. If absent, they become a new migration.
  public var migrationId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    receipts: [ReceiptToMigrate] = [],
    migrationId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.receipts = receipts
    self.migrationId = migrationId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.receipts = []
    self.migrationId = nil
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
        case "receipts":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          receipts = try reader.readList { (reader) throws(JSONError) in try ReceiptToMigrate(reading: &reader) }
        case "migrationId", "migration_id":
          try seen.insert(3, key)
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
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if !receipts.isEmpty {
      writer.key("receipts")
      writer.beginArray()
      for element in receipts { element.write(to: &writer) }
      writer.endArray()
    }
    if let migrationId {
      writer.key("migrationId")
      writer.string(migrationId)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigratedReceipt: RPCMessage, Hashable {
  public var id: String?
  public var originalTransactionIds: [String]
  public var error: String?
  /// queued, duplicate (this migration already has the same purchases), no-purchase or failed.
  public var state: String
  /// Transaction ids of old receipts that have no original transaction id.
  public var transactionIds: [String]

  public init(
    id: String? = nil,
    originalTransactionIds: [String] = [],
    error: String? = nil,
    state: String = "",
    transactionIds: [String] = []
  ) {
    self.id = id
    self.originalTransactionIds = originalTransactionIds
    self.error = error
    self.state = state
    self.transactionIds = transactionIds
  }

  public init() {
    self.id = nil
    self.originalTransactionIds = []
    self.error = nil
    self.state = ""
    self.transactionIds = []
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
        case "originalTransactionIds", "original_transaction_ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          originalTransactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "error":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          error = try reader.readString()
        case "state":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "transactionIds", "transaction_ids":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          transactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
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
    if !originalTransactionIds.isEmpty {
      writer.key("originalTransactionIds")
      writer.beginArray()
      for element in originalTransactionIds { writer.string(element) }
      writer.endArray()
    }
    if let error {
      writer.key("error")
      writer.string(error)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if !transactionIds.isEmpty {
      writer.key("transactionIds")
      writer.beginArray()
      for element in transactionIds { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigrateReceiptsResponse: RPCMessage, Hashable {
  /// One for each receipt, in the same order.
  public var results: [MigratedReceipt]
  public var migrationId: String

  public init(
    results: [MigratedReceipt] = [],
    migrationId: String = ""
  ) {
    self.results = results
    self.migrationId = migrationId
  }

  public init() {
    self.results = []
    self.migrationId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "results":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          results = try reader.readList { (reader) throws(JSONError) in try MigratedReceipt(reading: &reader) }
        case "migrationId", "migration_id":
          try seen.insert(1, key)
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
    if !results.isEmpty {
      writer.key("results")
      writer.beginArray()
      for element in results { element.write(to: &writer) }
      writer.endArray()
    }
    if !migrationId.isEmpty {
      writer.key("migrationId")
      writer.string(migrationId)
    }
    writer.endObject()
  }
}

/// The state and the progress of a migration. Numbers count receipts, except where stated otherwise.
public struct Migration: RPCMessage, Hashable {
  public var migrationId: String
  public var bundleId: String
  /// running; completed if no receipt waits (more receipts may still be added); or cancelled (none can be added).
  public var state: String
  /// 0 to 1: the finished share of all receipts. For a cancelled migration, the share at its end.
  public var progress: Double?
  public var receipts: Int64?
  public var duplicates: Int64?
  public var noPurchase: Int64?
  /// Receipts that were processed; their histories and statuses are being published on the feed.
  public var migrated: Int64?
  public var failed: Int64?
  public var waiting: Int64?
  /// Transactions in the histories, each counted once for each receipt.
  public var transactions: Int64?
  public var subscriptions: Int64?
  public var startedAt: Timestamp?
  public var updatedAt: Timestamp?
  /// Receipts of a cancelled migration for which Apple is not queried. A receipt whose query was in progress at that time counts here until the
  /// answer arrives, and afterwards in migrated or failed.
  public var cancelled: Int64?
  public var cancelledAt: Timestamp?

  public init(
    migrationId: String = "",
    bundleId: String = "",
    state: String = "",
    progress: Double? = nil,
    receipts: Int64? = nil,
    duplicates: Int64? = nil,
    noPurchase: Int64? = nil,
    migrated: Int64? = nil,
    failed: Int64? = nil,
    waiting: Int64? = nil,
    transactions: Int64? = nil,
    subscriptions: Int64? = nil,
    startedAt: Timestamp? = nil,
    updatedAt: Timestamp? = nil,
    cancelled: Int64? = nil,
    cancelledAt: Timestamp? = nil
  ) {
    self.migrationId = migrationId
    self.bundleId = bundleId
    self.state = state
    self.progress = progress
    self.receipts = receipts
    self.duplicates = duplicates
    self.noPurchase = noPurchase
    self.migrated = migrated
    self.failed = failed
    self.waiting = waiting
    self.transactions = transactions
    self.subscriptions = subscriptions
    self.startedAt = startedAt
    self.updatedAt = updatedAt
    self.cancelled = cancelled
    self.cancelledAt = cancelledAt
  }

  public init() {
    self.migrationId = ""
    self.bundleId = ""
    self.state = ""
    self.progress = nil
    self.receipts = nil
    self.duplicates = nil
    self.noPurchase = nil
    self.migrated = nil
    self.failed = nil
    self.waiting = nil
    self.transactions = nil
    self.subscriptions = nil
    self.startedAt = nil
    self.updatedAt = nil
    self.cancelled = nil
    self.cancelledAt = nil
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
        case "bundleId", "bundle_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "state":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "progress":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          progress = try reader.readDouble()
        case "receipts":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          receipts = try reader.readInt64()
        case "duplicates":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          duplicates = try reader.readInt64()
        case "noPurchase", "no_purchase":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          noPurchase = try reader.readInt64()
        case "migrated":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          migrated = try reader.readInt64()
        case "failed":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          failed = try reader.readInt64()
        case "waiting":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          waiting = try reader.readInt64()
        case "transactions":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          transactions = try reader.readInt64()
        case "subscriptions":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          subscriptions = try reader.readInt64()
        case "startedAt", "started_at":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          startedAt = try reader.readTimestamp()
        case "updatedAt", "updated_at":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          updatedAt = try reader.readTimestamp()
        case "cancelled":
          try seen.insert(14, key)
          if try reader.readNull() { continue }
          cancelled = try reader.readInt64()
        case "cancelledAt", "cancelled_at":
          try seen.insert(15, key)
          if try reader.readNull() { continue }
          cancelledAt = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !migrationId.isEmpty {
      writer.key("migrationId")
      writer.string(migrationId)
    }
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let progress {
      writer.key("progress")
      writer.double(progress)
    }
    if let receipts {
      writer.key("receipts")
      writer.int64(receipts)
    }
    if let duplicates {
      writer.key("duplicates")
      writer.int64(duplicates)
    }
    if let noPurchase {
      writer.key("noPurchase")
      writer.int64(noPurchase)
    }
    if let migrated {
      writer.key("migrated")
      writer.int64(migrated)
    }
    if let failed {
      writer.key("failed")
      writer.int64(failed)
    }
    if let waiting {
      writer.key("waiting")
      writer.int64(waiting)
    }
    if let transactions {
      writer.key("transactions")
      writer.int64(transactions)
    }
    if let subscriptions {
      writer.key("subscriptions")
      writer.int64(subscriptions)
    }
    if let startedAt {
      writer.key("startedAt")
      writer.string(startedAt.text)
    }
    if let updatedAt {
      writer.key("updatedAt")
      writer.string(updatedAt.text)
    }
    if let cancelled {
      writer.key("cancelled")
      writer.int64(cancelled)
    }
    if let cancelledAt {
      writer.key("cancelledAt")
      writer.string(cancelledAt.text)
    }
    writer.endObject()
  }
}
