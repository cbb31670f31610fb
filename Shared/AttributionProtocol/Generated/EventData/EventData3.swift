// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// One call of Apple's API for a token.
public struct AdServicesAttemptReading: OpenMessage {
  public var time: Timestamp?
  /// An HTTP status, or an error.
  public var result: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    time: Timestamp? = nil,
    result: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.time = time
    self.result = result
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "time":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          time = value
          continue
        }
      case "result":
        if let value = OpenValue.string(member.value) {
          result = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "time", time.map { .string($0.text) })
    object.append(new: "result", result.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// Apple Ads' answer for a token.
public struct AdServicesResolvedEvent: EventData {
  public static let eventType = EventType.adServicesResolved

  public var exchangeId: String?
  /// SHA-256 of the token.
  public var tokenKey: String?
  public var bundleId: String?
  public var installId: String?
  /// attributed, organic or test.
  public var outcome: String?
  /// The same value as in GetExchange.
  public var state: String?
  /// The status that decides which fields are removed: the one that came with the token, or that of a later withdrawal.
  public var attStatus: Int32?
  public var tokenCreatedAt: Timestamp?
  public var receivedAt: Timestamp?
  public var tokenAgeMs: Int64?
  public var traceparent: String?
  public var attempts: [AdServicesAttemptReading]
  /// The event of an earlier token of this install, which this event replaces.
  public var supersedes: String?
  /// The event that replaces this one.
  public var supersededBy: String?
  /// True if the token is not Base64.
  public var unusualToken: Bool?
  /// standard or detailed.
  public var detail: String?
  /// The record, with Apple's current spelling of all values.
  public var record: AdServicesRecordPayload?
  /// The record, as Apple sent it.
  public var rawRecord: AdServicesRecordPayload?
  /// For development builds, in place of record and raw_record.
  public var testRecord: AdServicesRecordPayload?
  public var rawTestRecord: AdServicesRecordPayload?
  /// Whether the record's detail contradicts the ATT status that the app reported.
  public var attMismatch: Bool?
  /// The configured names of the ids.
  public var names: JSONObject?
  /// Fields that were removed because there is no consent.
  public var removedNames: [String]
  /// The status that came with the token, if it differs from attStatus.
  public var attStatusAtReceipt: Int32?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    exchangeId: String? = nil,
    tokenKey: String? = nil,
    bundleId: String? = nil,
    installId: String? = nil,
    outcome: String? = nil,
    state: String? = nil,
    attStatus: Int32? = nil,
    tokenCreatedAt: Timestamp? = nil,
    receivedAt: Timestamp? = nil,
    tokenAgeMs: Int64? = nil,
    traceparent: String? = nil,
    attempts: [AdServicesAttemptReading] = [],
    supersedes: String? = nil,
    supersededBy: String? = nil,
    unusualToken: Bool? = nil,
    detail: String? = nil,
    record: AdServicesRecordPayload? = nil,
    rawRecord: AdServicesRecordPayload? = nil,
    testRecord: AdServicesRecordPayload? = nil,
    rawTestRecord: AdServicesRecordPayload? = nil,
    attMismatch: Bool? = nil,
    names: JSONObject? = nil,
    removedNames: [String] = [],
    attStatusAtReceipt: Int32? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.exchangeId = exchangeId
    self.tokenKey = tokenKey
    self.bundleId = bundleId
    self.installId = installId
    self.outcome = outcome
    self.state = state
    self.attStatus = attStatus
    self.tokenCreatedAt = tokenCreatedAt
    self.receivedAt = receivedAt
    self.tokenAgeMs = tokenAgeMs
    self.traceparent = traceparent
    self.attempts = attempts
    self.supersedes = supersedes
    self.supersededBy = supersededBy
    self.unusualToken = unusualToken
    self.detail = detail
    self.record = record
    self.rawRecord = rawRecord
    self.testRecord = testRecord
    self.rawTestRecord = rawTestRecord
    self.attMismatch = attMismatch
    self.names = names
    self.removedNames = removedNames
    self.attStatusAtReceipt = attStatusAtReceipt
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "exchangeId":
        if let value = OpenValue.string(member.value) {
          exchangeId = value
          continue
        }
      case "tokenKey":
        if let value = OpenValue.string(member.value) {
          tokenKey = value
          continue
        }
      case "bundleId":
        if let value = OpenValue.string(member.value) {
          bundleId = value
          continue
        }
      case "installId":
        if let value = OpenValue.string(member.value) {
          installId = value
          continue
        }
      case "outcome":
        if let value = OpenValue.string(member.value) {
          outcome = value
          continue
        }
      case "state":
        if let value = OpenValue.string(member.value) {
          state = value
          continue
        }
      case "attStatus":
        if let value = OpenValue.int32(member.value) {
          attStatus = value
          continue
        }
      case "tokenCreatedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          tokenCreatedAt = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "tokenAgeMs":
        if let value = OpenValue.int64(member.value) {
          tokenAgeMs = value
          continue
        }
      case "traceparent":
        if let value = OpenValue.string(member.value) {
          traceparent = value
          continue
        }
      case "attempts":
        if let value: [AdServicesAttemptReading] = OpenValue.list(member.value, { OpenValue.message($0) }) {
          attempts = value
          continue
        }
      case "supersedes":
        if let value = OpenValue.string(member.value) {
          supersedes = value
          continue
        }
      case "supersededBy":
        if let value = OpenValue.string(member.value) {
          supersededBy = value
          continue
        }
      case "unusualToken":
        if let value = OpenValue.bool(member.value) {
          unusualToken = value
          continue
        }
      case "detail":
        if let value = OpenValue.string(member.value) {
          detail = value
          continue
        }
      case "record":
        if let value: AdServicesRecordPayload = OpenValue.message(member.value) {
          record = value
          continue
        }
      case "rawRecord":
        if let value: AdServicesRecordPayload = OpenValue.message(member.value) {
          rawRecord = value
          continue
        }
      case "testRecord":
        if let value: AdServicesRecordPayload = OpenValue.message(member.value) {
          testRecord = value
          continue
        }
      case "rawTestRecord":
        if let value: AdServicesRecordPayload = OpenValue.message(member.value) {
          rawTestRecord = value
          continue
        }
      case "attMismatch":
        if let value = OpenValue.bool(member.value) {
          attMismatch = value
          continue
        }
      case "names":
        if let value: JSONObject = OpenValue.object(member.value) {
          names = value
          continue
        }
      case "removedNames":
        if let value = OpenValue.list(member.value, { OpenValue.string($0) }) {
          removedNames = value
          continue
        }
      case "attStatusAtReceipt":
        if let value = OpenValue.int32(member.value) {
          attStatusAtReceipt = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "exchangeId", exchangeId.map { .string($0) })
    object.append(new: "tokenKey", tokenKey.map { .string($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "installId", installId.map { .string($0) })
    object.append(new: "outcome", outcome.map { .string($0) })
    object.append(new: "state", state.map { .string($0) })
    object.append(new: "attStatus", attStatus.map { .integer($0) })
    object.append(new: "tokenCreatedAt", tokenCreatedAt.map { .string($0.text) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "tokenAgeMs", tokenAgeMs.map { .integer($0) })
    object.append(new: "traceparent", traceparent.map { .string($0) })
    if !attempts.isEmpty { object.append(new: "attempts", .array(attempts.map { .object($0.object) })) }
    object.append(new: "supersedes", supersedes.map { .string($0) })
    object.append(new: "supersededBy", supersededBy.map { .string($0) })
    object.append(new: "unusualToken", unusualToken.map { .bool($0) })
    object.append(new: "detail", detail.map { .string($0) })
    object.append(new: "record", record.map { .object($0.object) })
    object.append(new: "rawRecord", rawRecord.map { .object($0.object) })
    object.append(new: "testRecord", testRecord.map { .object($0.object) })
    object.append(new: "rawTestRecord", rawTestRecord.map { .object($0.object) })
    object.append(new: "attMismatch", attMismatch.map { .bool($0) })
    object.append(new: "names", names.map { .object($0) })
    if !removedNames.isEmpty { object.append(new: "removedNames", .array(removedNames.map { .string($0) })) }
    object.append(new: "attStatusAtReceipt", attStatusAtReceipt.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// Why there is no attribution record for a token.
public struct AdServicesFailedEvent: EventData {
  public static let eventType = EventType.adServicesFailed

  public var exchangeId: String?
  public var tokenKey: String?
  public var bundleId: String?
  public var installId: String?
  /// not_found, invalid_token or expired. Expired means that Apple did not answer in time; attempts has the errors.
  public var outcome: String?
  public var state: String?
  public var attStatus: Int32?
  public var tokenCreatedAt: Timestamp?
  public var receivedAt: Timestamp?
  public var tokenAgeMs: Int64?
  public var traceparent: String?
  public var attempts: [AdServicesAttemptReading]
  public var unusualToken: Bool?
  /// The event of an earlier token of this install, which this event replaces.
  public var supersedes: String?
  /// The event that replaces this one.
  public var supersededBy: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    exchangeId: String? = nil,
    tokenKey: String? = nil,
    bundleId: String? = nil,
    installId: String? = nil,
    outcome: String? = nil,
    state: String? = nil,
    attStatus: Int32? = nil,
    tokenCreatedAt: Timestamp? = nil,
    receivedAt: Timestamp? = nil,
    tokenAgeMs: Int64? = nil,
    traceparent: String? = nil,
    attempts: [AdServicesAttemptReading] = [],
    unusualToken: Bool? = nil,
    supersedes: String? = nil,
    supersededBy: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.exchangeId = exchangeId
    self.tokenKey = tokenKey
    self.bundleId = bundleId
    self.installId = installId
    self.outcome = outcome
    self.state = state
    self.attStatus = attStatus
    self.tokenCreatedAt = tokenCreatedAt
    self.receivedAt = receivedAt
    self.tokenAgeMs = tokenAgeMs
    self.traceparent = traceparent
    self.attempts = attempts
    self.unusualToken = unusualToken
    self.supersedes = supersedes
    self.supersededBy = supersededBy
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "exchangeId":
        if let value = OpenValue.string(member.value) {
          exchangeId = value
          continue
        }
      case "tokenKey":
        if let value = OpenValue.string(member.value) {
          tokenKey = value
          continue
        }
      case "bundleId":
        if let value = OpenValue.string(member.value) {
          bundleId = value
          continue
        }
      case "installId":
        if let value = OpenValue.string(member.value) {
          installId = value
          continue
        }
      case "outcome":
        if let value = OpenValue.string(member.value) {
          outcome = value
          continue
        }
      case "state":
        if let value = OpenValue.string(member.value) {
          state = value
          continue
        }
      case "attStatus":
        if let value = OpenValue.int32(member.value) {
          attStatus = value
          continue
        }
      case "tokenCreatedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          tokenCreatedAt = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "tokenAgeMs":
        if let value = OpenValue.int64(member.value) {
          tokenAgeMs = value
          continue
        }
      case "traceparent":
        if let value = OpenValue.string(member.value) {
          traceparent = value
          continue
        }
      case "attempts":
        if let value: [AdServicesAttemptReading] = OpenValue.list(member.value, { OpenValue.message($0) }) {
          attempts = value
          continue
        }
      case "unusualToken":
        if let value = OpenValue.bool(member.value) {
          unusualToken = value
          continue
        }
      case "supersedes":
        if let value = OpenValue.string(member.value) {
          supersedes = value
          continue
        }
      case "supersededBy":
        if let value = OpenValue.string(member.value) {
          supersededBy = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "exchangeId", exchangeId.map { .string($0) })
    object.append(new: "tokenKey", tokenKey.map { .string($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "installId", installId.map { .string($0) })
    object.append(new: "outcome", outcome.map { .string($0) })
    object.append(new: "state", state.map { .string($0) })
    object.append(new: "attStatus", attStatus.map { .integer($0) })
    object.append(new: "tokenCreatedAt", tokenCreatedAt.map { .string($0.text) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "tokenAgeMs", tokenAgeMs.map { .integer($0) })
    object.append(new: "traceparent", traceparent.map { .string($0) })
    if !attempts.isEmpty { object.append(new: "attempts", .array(attempts.map { .object($0.object) })) }
    object.append(new: "unusualToken", unusualToken.map { .bool($0) })
    object.append(new: "supersedes", supersedes.map { .string($0) })
    object.append(new: "supersededBy", supersededBy.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
