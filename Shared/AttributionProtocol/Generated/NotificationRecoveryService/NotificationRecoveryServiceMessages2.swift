// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct Recovery: RPCMessage, Hashable {
  public var recoveryId: String
  /// running, completed, failed or cancelled.
  public var state: String
  /// 0 to 1.
  public var progress: Double?
  public var pages: Int64?
  public var fetched: Int64?
  public var accepted: Int64?
  public var duplicates: Int64?
  public var failed: Int64?
  public var sendAttemptResults: [SendAttemptCount]
  public var bundleId: String
  public var environment: String
  public var startDate: Timestamp?
  public var endDate: Timestamp?
  public var startedAt: Timestamp?
  public var completedAt: Timestamp?
  public var lastError: String?
  public var uncovered: [UncoveredRange]
  public var notificationType: String?
  public var notificationSubtype: String?
  public var transactionId: String?
  public var onlyFailures: Bool?
  /// What started it: request, schedule or outage.
  public var origin: String
  /// The notifications among the fetched ones that Apple has tried to deliver without success.
  public var undelivered: Int64?

  public init(
    recoveryId: String = "",
    state: String = "",
    progress: Double? = nil,
    pages: Int64? = nil,
    fetched: Int64? = nil,
    accepted: Int64? = nil,
    duplicates: Int64? = nil,
    failed: Int64? = nil,
    sendAttemptResults: [SendAttemptCount] = [],
    bundleId: String = "",
    environment: String = "",
    startDate: Timestamp? = nil,
    endDate: Timestamp? = nil,
    startedAt: Timestamp? = nil,
    completedAt: Timestamp? = nil,
    lastError: String? = nil,
    uncovered: [UncoveredRange] = [],
    notificationType: String? = nil,
    notificationSubtype: String? = nil,
    transactionId: String? = nil,
    onlyFailures: Bool? = nil,
    origin: String = "",
    undelivered: Int64? = nil
  ) {
    self.recoveryId = recoveryId
    self.state = state
    self.progress = progress
    self.pages = pages
    self.fetched = fetched
    self.accepted = accepted
    self.duplicates = duplicates
    self.failed = failed
    self.sendAttemptResults = sendAttemptResults
    self.bundleId = bundleId
    self.environment = environment
    self.startDate = startDate
    self.endDate = endDate
    self.startedAt = startedAt
    self.completedAt = completedAt
    self.lastError = lastError
    self.uncovered = uncovered
    self.notificationType = notificationType
    self.notificationSubtype = notificationSubtype
    self.transactionId = transactionId
    self.onlyFailures = onlyFailures
    self.origin = origin
    self.undelivered = undelivered
  }

  public init() {
    self.recoveryId = ""
    self.state = ""
    self.progress = nil
    self.pages = nil
    self.fetched = nil
    self.accepted = nil
    self.duplicates = nil
    self.failed = nil
    self.sendAttemptResults = []
    self.bundleId = ""
    self.environment = ""
    self.startDate = nil
    self.endDate = nil
    self.startedAt = nil
    self.completedAt = nil
    self.lastError = nil
    self.uncovered = []
    self.notificationType = nil
    self.notificationSubtype = nil
    self.transactionId = nil
    self.onlyFailures = nil
    self.origin = ""
    self.undelivered = nil
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
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "progress":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          progress = try reader.readDouble()
        case "pages":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          pages = try reader.readInt64()
        case "fetched":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          fetched = try reader.readInt64()
        case "accepted":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          accepted = try reader.readInt64()
        case "duplicates":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          duplicates = try reader.readInt64()
        case "failed":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          failed = try reader.readInt64()
        case "sendAttemptResults", "send_attempt_results":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          sendAttemptResults = try reader.readList { (reader) throws(JSONError) in try SendAttemptCount(reading: &reader) }
        case "bundleId", "bundle_id":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "startDate", "start_date":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          startDate = try reader.readTimestamp()
        case "endDate", "end_date":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          endDate = try reader.readTimestamp()
        case "startedAt", "started_at":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          startedAt = try reader.readTimestamp()
        case "completedAt", "completed_at":
          try seen.insert(14, key)
          if try reader.readNull() { continue }
          completedAt = try reader.readTimestamp()
        case "lastError", "last_error":
          try seen.insert(15, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "uncovered":
          try seen.insert(16, key)
          if try reader.readNull() { continue }
          uncovered = try reader.readList { (reader) throws(JSONError) in try UncoveredRange(reading: &reader) }
        case "notificationType", "notification_type":
          try seen.insert(17, key)
          if try reader.readNull() { continue }
          notificationType = try reader.readString()
        case "notificationSubtype", "notification_subtype":
          try seen.insert(18, key)
          if try reader.readNull() { continue }
          notificationSubtype = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(19, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "onlyFailures", "only_failures":
          try seen.insert(20, key)
          if try reader.readNull() { continue }
          onlyFailures = try reader.readBool()
        case "origin":
          try seen.insert(21, key)
          if try reader.readNull() { continue }
          origin = try reader.readString()
        case "undelivered":
          try seen.insert(22, key)
          if try reader.readNull() { continue }
          undelivered = try reader.readInt64()
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
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let progress {
      writer.key("progress")
      writer.double(progress)
    }
    if let pages {
      writer.key("pages")
      writer.int64(pages)
    }
    if let fetched {
      writer.key("fetched")
      writer.int64(fetched)
    }
    if let accepted {
      writer.key("accepted")
      writer.int64(accepted)
    }
    if let duplicates {
      writer.key("duplicates")
      writer.int64(duplicates)
    }
    if let failed {
      writer.key("failed")
      writer.int64(failed)
    }
    if !sendAttemptResults.isEmpty {
      writer.key("sendAttemptResults")
      writer.beginArray()
      for element in sendAttemptResults { element.write(to: &writer) }
      writer.endArray()
    }
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !environment.isEmpty {
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
    if let startedAt {
      writer.key("startedAt")
      writer.string(startedAt.text)
    }
    if let completedAt {
      writer.key("completedAt")
      writer.string(completedAt.text)
    }
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    if !uncovered.isEmpty {
      writer.key("uncovered")
      writer.beginArray()
      for element in uncovered { element.write(to: &writer) }
      writer.endArray()
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
    if !origin.isEmpty {
      writer.key("origin")
      writer.string(origin)
    }
    if let undelivered {
      writer.key("undelivered")
      writer.int64(undelivered)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct GetRecoveryRequest: RPCMessage, Hashable {
  public var recoveryId: String?

  public init(
    recoveryId: String? = nil
  ) {
    self.recoveryId = recoveryId
  }

  public init() {
    self.recoveryId = nil
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
    if let recoveryId {
      writer.key("recoveryId")
      writer.string(recoveryId)
    }
    writer.endObject()
  }
}
