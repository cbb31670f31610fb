// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct StartRecoveryRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox.
  public var environment: String?
  public var startDate: Timestamp?
  public var endDate: Timestamp?
  public var notificationType: String?
  public var notificationSubtype: String?
  /// Only notifications about this customer: any transactionId or originalTransactionId of theirs. Must not be combined with
  /// notificationType.
  public var transactionId: String?
  public var onlyFailures: Bool?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    startDate: Timestamp? = nil,
    endDate: Timestamp? = nil,
    notificationType: String? = nil,
    notificationSubtype: String? = nil,
    transactionId: String? = nil,
    onlyFailures: Bool? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.startDate = startDate
    self.endDate = endDate
    self.notificationType = notificationType
    self.notificationSubtype = notificationSubtype
    self.transactionId = transactionId
    self.onlyFailures = onlyFailures
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.startDate = nil
    self.endDate = nil
    self.notificationType = nil
    self.notificationSubtype = nil
    self.transactionId = nil
    self.onlyFailures = nil
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
        case "startDate", "start_date":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          startDate = try reader.readTimestamp()
        case "endDate", "end_date":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          endDate = try reader.readTimestamp()
        case "notificationType", "notification_type":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          notificationType = try reader.readString()
        case "notificationSubtype", "notification_subtype":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          notificationSubtype = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "onlyFailures", "only_failures":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          onlyFailures = try reader.readBool()
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
    if let startDate {
      writer.key("startDate")
      writer.string(startDate.text)
    }
    if let endDate {
      writer.key("endDate")
      writer.string(endDate.text)
    }
    if let notificationType {
      writer.key("notificationType")
      writer.string(notificationType)
    }
    if let notificationSubtype {
      writer.key("notificationSubtype")
      writer.string(notificationSubtype)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let onlyFailures {
      writer.key("onlyFailures")
      writer.bool(onlyFailures)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct StartRecoveryResponse: RPCMessage, Hashable {
  public var recoveryId: String

  public init(
    recoveryId: String = ""
  ) {
    self.recoveryId = recoveryId
  }

  public init() {
    self.recoveryId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "recoveryId", "recovery_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          recoveryId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !recoveryId.isEmpty {
      writer.key("recoveryId")
      writer.string(recoveryId)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct SendAttemptCount: RPCMessage, Hashable {
  /// Apple's sendAttemptResult.
  public var result: String
  public var count: Int64?
  /// The meaning of the result, and what to check; absent for a success.
  public var diagnosis: String?
  /// When Apple made the first and the last of these attempts. Other notifications of the time may be missing too: those that Apple counts as
  /// delivered, because something in front of ingest answered 200. A recovery of this range without onlyFailures finds them.
  public var firstAttemptAt: Timestamp?
  public var lastAttemptAt: Timestamp?

  public init(
    result: String = "",
    count: Int64? = nil,
    diagnosis: String? = nil,
    firstAttemptAt: Timestamp? = nil,
    lastAttemptAt: Timestamp? = nil
  ) {
    self.result = result
    self.count = count
    self.diagnosis = diagnosis
    self.firstAttemptAt = firstAttemptAt
    self.lastAttemptAt = lastAttemptAt
  }

  public init() {
    self.result = ""
    self.count = nil
    self.diagnosis = nil
    self.firstAttemptAt = nil
    self.lastAttemptAt = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "result":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          result = try reader.readString()
        case "count":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          count = try reader.readInt64()
        case "diagnosis":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          diagnosis = try reader.readString()
        case "firstAttemptAt", "first_attempt_at":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          firstAttemptAt = try reader.readTimestamp()
        case "lastAttemptAt", "last_attempt_at":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          lastAttemptAt = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !result.isEmpty {
      writer.key("result")
      writer.string(result)
    }
    if let count {
      writer.key("count")
      writer.int64(count)
    }
    if let diagnosis {
      writer.key("diagnosis")
      writer.string(diagnosis)
    }
    if let firstAttemptAt {
      writer.key("firstAttemptAt")
      writer.string(firstAttemptAt.text)
    }
    if let lastAttemptAt {
      writer.key("lastAttemptAt")
      writer.string(lastAttemptAt.text)
    }
    writer.endObject()
  }
}

/// A time range that Apple's history of notifications does not cover any more. GetTransactionHistory of its purchases shows what happened in it.
public struct UncoveredRange: RPCMessage, Hashable {
  public var startDate: Timestamp?
  public var endDate: Timestamp?

  public init(
    startDate: Timestamp? = nil,
    endDate: Timestamp? = nil
  ) {
    self.startDate = startDate
    self.endDate = endDate
  }

  public init() {
    self.startDate = nil
    self.endDate = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "startDate", "start_date":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          startDate = try reader.readTimestamp()
        case "endDate", "end_date":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          endDate = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let startDate {
      writer.key("startDate")
      writer.string(startDate.text)
    }
    if let endDate {
      writer.key("endDate")
      writer.string(endDate.text)
    }
    writer.endObject()
  }
}
