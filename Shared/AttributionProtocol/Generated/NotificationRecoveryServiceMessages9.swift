// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// One receipt, or what verifyReceipt answered for it.
public struct ReceiptToMigrate: RPCMessage, Hashable {
  public var id: String?
  public var appReceipt: String?
  public var transactionReceipt: String?
  public var verifyReceiptResponse: JSONObject?

  public init(
    id: String? = nil,
    appReceipt: String? = nil,
    transactionReceipt: String? = nil,
    verifyReceiptResponse: JSONObject? = nil
  ) {
    self.id = id
    self.appReceipt = appReceipt
    self.transactionReceipt = transactionReceipt
    self.verifyReceiptResponse = verifyReceiptResponse
  }

  public init() {
    self.id = nil
    self.appReceipt = nil
    self.transactionReceipt = nil
    self.verifyReceiptResponse = nil
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
        case "appReceipt", "app_receipt":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          appReceipt = try reader.readString()
        case "transactionReceipt", "transaction_receipt":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          transactionReceipt = try reader.readString()
        case "verifyReceiptResponse", "verify_receipt_response":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          verifyReceiptResponse = try reader.readObjectValue()
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
    if let appReceipt {
      writer.key("appReceipt")
      writer.string(appReceipt)
    }
    if let transactionReceipt {
      writer.key("transactionReceipt")
      writer.string(transactionReceipt)
    }
    if let verifyReceiptResponse {
      writer.key("verifyReceiptResponse")
      writer.object(verifyReceiptResponse)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigrateReceiptsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  public var environment: String?
  public var receipts: [ReceiptToMigrate]

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    receipts: [ReceiptToMigrate] = []
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.receipts = receipts
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.receipts = []
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
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigratedReceipt: RPCMessage, Hashable {
  public var id: String?
  public var originalTransactionIds: [String]
  public var error: String?

  public init(
    id: String? = nil,
    originalTransactionIds: [String] = [],
    error: String? = nil
  ) {
    self.id = id
    self.originalTransactionIds = originalTransactionIds
    self.error = error
  }

  public init() {
    self.id = nil
    self.originalTransactionIds = []
    self.error = nil
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
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct MigrateReceiptsResponse: RPCMessage, Hashable {
  public var results: [MigratedReceipt]

  public init(
    results: [MigratedReceipt] = []
  ) {
    self.results = results
  }

  public init() {
    self.results = []
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
    writer.endObject()
  }
}
