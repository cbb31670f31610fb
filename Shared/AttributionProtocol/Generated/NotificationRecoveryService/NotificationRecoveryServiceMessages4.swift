// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/recovery/v1/recovery.proto`.
public struct CancelRecoveryRequest: RPCMessage, Hashable {
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

/// See `attribution/recovery/v1/recovery.proto`.
public struct CancelRecoveryResponse: RPCMessage, Hashable {
  public var recovery: Recovery?

  public init(
    recovery: Recovery? = nil
  ) {
    self.recovery = recovery
  }

  public init() {
    self.recovery = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "recovery":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          recovery = try Recovery(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let recovery {
      writer.key("recovery")
      recovery.write(to: &writer)
    }
    writer.endObject()
  }
}

/// A step that is missing in a subscription's history.
public struct Gap: RPCMessage, Hashable {
  public var originalTransactionId: String
  public var environment: String
  /// The first rule that the history violates: period-continuity, entry-required, unexplained-start, changed-fact or silence.
  public var rule: String
  /// The missing notification types: "DID_FAIL_TO_RENEW", "EXPIRED or REVOKE".
  public var missing: String
  /// When the gap was detected.
  public var suspectedAt: Timestamp?
  /// suspected, recovered or unrecoverable.
  public var state: String
  public var bundleId: String
  /// The gap's id; the same as in the event and in GetSubscriptionState.
  public var gapId: String
  public var rules: [String]
  /// The signing time of the step before the gap; absent if the gap is at the beginning.
  public var after: Timestamp?
  public var before: Timestamp?
  /// The notificationUUID of the step that revealed the gap; empty for silence.
  public var shownBy: String
  /// The number of notifications that were fetched from Apple's history and were not known before.
  public var notifications: Int64?
  /// What corrected the subscription's state: notifications or status; absent while neither did.
  public var repairedBy: String?
  /// The subscription's state when the gap was closed.
  public var observedState: String?
  public var completedAt: Timestamp?
  /// Why Apple was not queried for the gap yet, or why the query failed.
  public var lastError: String?

  public init(
    originalTransactionId: String = "",
    environment: String = "",
    rule: String = "",
    missing: String = "",
    suspectedAt: Timestamp? = nil,
    state: String = "",
    bundleId: String = "",
    gapId: String = "",
    rules: [String] = [],
    after: Timestamp? = nil,
    before: Timestamp? = nil,
    shownBy: String = "",
    notifications: Int64? = nil,
    repairedBy: String? = nil,
    observedState: String? = nil,
    completedAt: Timestamp? = nil,
    lastError: String? = nil
  ) {
    self.originalTransactionId = originalTransactionId
    self.environment = environment
    self.rule = rule
    self.missing = missing
    self.suspectedAt = suspectedAt
    self.state = state
    self.bundleId = bundleId
    self.gapId = gapId
    self.rules = rules
    self.after = after
    self.before = before
    self.shownBy = shownBy
    self.notifications = notifications
    self.repairedBy = repairedBy
    self.observedState = observedState
    self.completedAt = completedAt
    self.lastError = lastError
  }

  public init() {
    self.originalTransactionId = ""
    self.environment = ""
    self.rule = ""
    self.missing = ""
    self.suspectedAt = nil
    self.state = ""
    self.bundleId = ""
    self.gapId = ""
    self.rules = []
    self.after = nil
    self.before = nil
    self.shownBy = ""
    self.notifications = nil
    self.repairedBy = nil
    self.observedState = nil
    self.completedAt = nil
    self.lastError = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "originalTransactionId", "original_transaction_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          originalTransactionId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "rule":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          rule = try reader.readString()
        case "missing":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          missing = try reader.readString()
        case "suspectedAt", "suspected_at":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          suspectedAt = try reader.readTimestamp()
        case "state":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "gapId", "gap_id":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          gapId = try reader.readString()
        case "rules":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          rules = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "after":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          after = try reader.readTimestamp()
        case "before":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          before = try reader.readTimestamp()
        case "shownBy", "shown_by":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          shownBy = try reader.readString()
        case "notifications":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          notifications = try reader.readInt64()
        case "repairedBy", "repaired_by":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          repairedBy = try reader.readString()
        case "observedState", "observed_state":
          try seen.insert(14, key)
          if try reader.readNull() { continue }
          observedState = try reader.readString()
        case "completedAt", "completed_at":
          try seen.insert(15, key)
          if try reader.readNull() { continue }
          completedAt = try reader.readTimestamp()
        case "lastError", "last_error":
          try seen.insert(16, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !originalTransactionId.isEmpty {
      writer.key("originalTransactionId")
      writer.string(originalTransactionId)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    if !rule.isEmpty {
      writer.key("rule")
      writer.string(rule)
    }
    if !missing.isEmpty {
      writer.key("missing")
      writer.string(missing)
    }
    if let suspectedAt {
      writer.key("suspectedAt")
      writer.string(suspectedAt.text)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !gapId.isEmpty {
      writer.key("gapId")
      writer.string(gapId)
    }
    if !rules.isEmpty {
      writer.key("rules")
      writer.beginArray()
      for element in rules { writer.string(element) }
      writer.endArray()
    }
    if let after {
      writer.key("after")
      writer.string(after.text)
    }
    if let before {
      writer.key("before")
      writer.string(before.text)
    }
    if !shownBy.isEmpty {
      writer.key("shownBy")
      writer.string(shownBy)
    }
    if let notifications {
      writer.key("notifications")
      writer.int64(notifications)
    }
    if let repairedBy {
      writer.key("repairedBy")
      writer.string(repairedBy)
    }
    if let observedState {
      writer.key("observedState")
      writer.string(observedState)
    }
    if let completedAt {
      writer.key("completedAt")
      writer.string(completedAt.text)
    }
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListGapsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Up to 1,000; default 100.
  public var maxGaps: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?
  /// Returns only those in this state.
  public var state: String?

  public init(
    bundleId: String? = nil,
    maxGaps: Int32? = nil,
    pageToken: String? = nil,
    state: String? = nil
  ) {
    self.bundleId = bundleId
    self.maxGaps = maxGaps
    self.pageToken = pageToken
    self.state = state
  }

  public init() {
    self.bundleId = nil
    self.maxGaps = nil
    self.pageToken = nil
    self.state = nil
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
        case "maxGaps", "max_gaps":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxGaps = try reader.readInt32()
        case "pageToken", "page_token":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          pageToken = try reader.readString()
        case "state":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
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
    if let maxGaps {
      writer.key("maxGaps")
      writer.int(maxGaps)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    if let state {
      writer.key("state")
      writer.string(state)
    }
    writer.endObject()
  }
}

/// See `attribution/recovery/v1/recovery.proto`.
public struct ListGapsResponse: RPCMessage, Hashable {
  /// Newest first.
  public var gaps: [Gap]
  /// Absent on the last page.
  public var nextPageToken: String?

  public init(
    gaps: [Gap] = [],
    nextPageToken: String? = nil
  ) {
    self.gaps = gaps
    self.nextPageToken = nextPageToken
  }

  public init() {
    self.gaps = []
    self.nextPageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "gaps":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          gaps = try reader.readList { (reader) throws(JSONError) in try Gap(reading: &reader) }
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
    if !gaps.isEmpty {
      writer.key("gaps")
      writer.beginArray()
      for element in gaps { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    writer.endObject()
  }
}
