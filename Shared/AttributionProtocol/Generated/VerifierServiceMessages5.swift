// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyBatchResponse: RPCMessage, Hashable {
  public var results: [VerifyResult]

  public init(
    results: [VerifyResult] = []
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
          results = try reader.readList { (reader) throws(JSONError) in try VerifyResult(reading: &reader) }
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
  /// Whether there are more ids than may be answered with; the first ones are. Apple answers about a customer by any one of them.
  public var truncated: Bool

  public init(
    originalTransactionIds: [String] = [],
    transactionIds: [String] = [],
    found: [FoundTransactionId] = [],
    truncated: Bool = false
  ) {
    self.originalTransactionIds = originalTransactionIds
    self.transactionIds = transactionIds
    self.found = found
    self.truncated = truncated
  }

  public init() {
    self.originalTransactionIds = []
    self.transactionIds = []
    self.found = []
    self.truncated = false
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
        case "truncated":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          truncated = try reader.readBool()
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
    if truncated {
      writer.key("truncated")
      writer.bool(truncated)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetDeliveryCountsRequest: RPCMessage, Hashable {
  /// minute (default) or hour.
  public var period: String?
  /// How many up to now: 1 to 1,440 minutes, 60 when absent; 1 to 168 hours, 24 when absent.
  public var periods: Int32?

  public init(
    period: String? = nil,
    periods: Int32? = nil
  ) {
    self.period = period
    self.periods = periods
  }

  public init() {
    self.period = nil
    self.periods = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "period":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          period = try reader.readString()
        case "periods":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          periods = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let period {
      writer.key("period")
      writer.string(period)
    }
    if let periods {
      writer.key("periods")
      writer.int(periods)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct DeliveryCount: RPCMessage, Hashable {
  /// skadnetwork-postback, adattributionkit-postback, notification, adservices-token, session and others.
  public var kind: String
  /// verified, rejected, duplicate, done or dead.
  public var verdict: String
  /// Of one that was rejected.
  public var reason: String?
  public var count: Int64?

  public init(
    kind: String = "",
    verdict: String = "",
    reason: String? = nil,
    count: Int64? = nil
  ) {
    self.kind = kind
    self.verdict = verdict
    self.reason = reason
    self.count = count
  }

  public init() {
    self.kind = ""
    self.verdict = ""
    self.reason = nil
    self.count = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "kind":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          kind = try reader.readString()
        case "verdict":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          verdict = try reader.readString()
        case "reason":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "count":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          count = try reader.readInt64()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !kind.isEmpty {
      writer.key("kind")
      writer.string(kind)
    }
    if !verdict.isEmpty {
      writer.key("verdict")
      writer.string(verdict)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let count {
      writer.key("count")
      writer.int64(count)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct DeliveryPeriod: RPCMessage, Hashable {
  public var start: Timestamp?
  /// Empty where nothing ended.
  public var counts: [DeliveryCount]

  public init(
    start: Timestamp? = nil,
    counts: [DeliveryCount] = []
  ) {
    self.start = start
    self.counts = counts
  }

  public init() {
    self.start = nil
    self.counts = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "start":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          start = try reader.readTimestamp()
        case "counts":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          counts = try reader.readList { (reader) throws(JSONError) in try DeliveryCount(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let start {
      writer.key("start")
      writer.string(start.text)
    }
    if !counts.isEmpty {
      writer.key("counts")
      writer.beginArray()
      for element in counts { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
