// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct ExtractTransactionIdsRequest: RPCMessage, Hashable {
  /// Base64 of a PKCS#7 app receipt; one of the three.
  public var appReceipt: String?
  /// Base64 of an old transaction receipt.
  public var transactionReceipt: String?
  /// The JSON that verifyReceipt answered.
  public var verifyReceiptResponse: JSONObject?

  public init(
    appReceipt: String? = nil,
    transactionReceipt: String? = nil,
    verifyReceiptResponse: JSONObject? = nil
  ) {
    self.appReceipt = appReceipt
    self.transactionReceipt = transactionReceipt
    self.verifyReceiptResponse = verifyReceiptResponse
  }

  public init() {
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
        case "appReceipt", "app_receipt":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          appReceipt = try reader.readString()
        case "transactionReceipt", "transaction_receipt":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          transactionReceipt = try reader.readString()
        case "verifyReceiptResponse", "verify_receipt_response":
          try seen.insert(2, key)
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

/// Where an id was found.
public struct FoundTransactionId: RPCMessage, Hashable {
  public var id: String
  /// originalTransactionId or transactionId.
  public var kind: String
  /// The receipt field or JSON path.
  public var location: String

  public init(
    id: String = "",
    kind: String = "",
    location: String = ""
  ) {
    self.id = id
    self.kind = kind
    self.location = location
  }

  public init() {
    self.id = ""
    self.kind = ""
    self.location = ""
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
        case "kind":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "location":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          location = try reader.readString()
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
    if !kind.isEmpty {
      writer.key("kind")
      writer.string(kind)
    }
    if !location.isEmpty {
      writer.key("location")
      writer.string(location)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct ExtractTransactionIdsResponse: RPCMessage, Hashable {
  public var originalTransactionIds: [String]
  public var transactionIds: [String]
  public var found: [FoundTransactionId]

  public init(
    originalTransactionIds: [String] = [],
    transactionIds: [String] = [],
    found: [FoundTransactionId] = []
  ) {
    self.originalTransactionIds = originalTransactionIds
    self.transactionIds = transactionIds
    self.found = found
  }

  public init() {
    self.originalTransactionIds = []
    self.transactionIds = []
    self.found = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "originalTransactionIds", "original_transaction_ids":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          originalTransactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "transactionIds", "transaction_ids":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          transactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "found":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          found = try reader.readList { (reader) throws(JSONError) in try FoundTransactionId(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !originalTransactionIds.isEmpty {
      writer.key("originalTransactionIds")
      writer.beginArray()
      for element in originalTransactionIds { writer.string(element) }
      writer.endArray()
    }
    if !transactionIds.isEmpty {
      writer.key("transactionIds")
      writer.beginArray()
      for element in transactionIds { writer.string(element) }
      writer.endArray()
    }
    if !found.isEmpty {
      writer.key("found")
      writer.beginArray()
      for element in found { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
