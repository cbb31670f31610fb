// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/asa/v1/asa.proto`.
public struct GetExchangeRequest: RPCMessage, Hashable {
  public var exchangeId: String?

  public init(
    exchangeId: String? = nil
  ) {
    self.exchangeId = exchangeId
  }

  public init() {
    self.exchangeId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "exchangeId", "exchange_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          exchangeId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let exchangeId {
      writer.key("exchangeId")
      writer.string(exchangeId)
    }
    writer.endObject()
  }
}

/// See `attribution/asa/v1/asa.proto`.
public struct GetExchangeResponse: RPCMessage, Hashable {
  public var exchangeId: String
  /// attributed, not_attributed, pending, expired, invalid or failed.
  public var state: String
  public var record: AttributionRecord?
  /// standard or detailed.
  public var detail: String?
  /// Whether the record's detail contradicts the ATT status that the app reported.
  public var attMismatch: Bool?
  /// Whether it is Apple's placeholder for development builds.
  public var test: Bool?
  public var attempts: Int32?
  /// Why there is no record.
  public var reason: String?
  public var bundleId: String?
  public var installId: String?

  public init(
    exchangeId: String = "",
    state: String = "",
    record: AttributionRecord? = nil,
    detail: String? = nil,
    attMismatch: Bool? = nil,
    test: Bool? = nil,
    attempts: Int32? = nil,
    reason: String? = nil,
    bundleId: String? = nil,
    installId: String? = nil
  ) {
    self.exchangeId = exchangeId
    self.state = state
    self.record = record
    self.detail = detail
    self.attMismatch = attMismatch
    self.test = test
    self.attempts = attempts
    self.reason = reason
    self.bundleId = bundleId
    self.installId = installId
  }

  public init() {
    self.exchangeId = ""
    self.state = ""
    self.record = nil
    self.detail = nil
    self.attMismatch = nil
    self.test = nil
    self.attempts = nil
    self.reason = nil
    self.bundleId = nil
    self.installId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "exchangeId", "exchange_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          exchangeId = try reader.readString()
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "record":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          record = try AttributionRecord(reading: &reader)
        case "detail":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          detail = try reader.readString()
        case "attMismatch", "att_mismatch":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          attMismatch = try reader.readBool()
        case "test":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          test = try reader.readBool()
        case "attempts":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          attempts = try reader.readInt32()
        case "reason":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "installId", "install_id":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          installId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !exchangeId.isEmpty {
      writer.key("exchangeId")
      writer.string(exchangeId)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let record {
      writer.key("record")
      record.write(to: &writer)
    }
    if let detail {
      writer.key("detail")
      writer.string(detail)
    }
    if let attMismatch {
      writer.key("attMismatch")
      writer.bool(attMismatch)
    }
    if let test {
      writer.key("test")
      writer.bool(test)
    }
    if let attempts {
      writer.key("attempts")
      writer.int(attempts)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let installId {
      writer.key("installId")
      writer.string(installId)
    }
    writer.endObject()
  }
}
