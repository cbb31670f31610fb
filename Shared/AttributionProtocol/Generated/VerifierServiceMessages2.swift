// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAppStoreSignedDataResponse: RPCMessage, Hashable {
  public var valid: Bool?
  public var reason: String?
  public var field: String?
  public var environment: String?
  public var payload: JSONObject?
  /// Of a notification.
  public var transactionInfo: JSONObject?
  public var renewalInfo: JSONObject?
  public var appTransactionInfo: JSONObject?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    environment: String? = nil,
    payload: JSONObject? = nil,
    transactionInfo: JSONObject? = nil,
    renewalInfo: JSONObject? = nil,
    appTransactionInfo: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.environment = environment
    self.payload = payload
    self.transactionInfo = transactionInfo
    self.renewalInfo = renewalInfo
    self.appTransactionInfo = appTransactionInfo
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.environment = nil
    self.payload = nil
    self.transactionInfo = nil
    self.renewalInfo = nil
    self.appTransactionInfo = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "valid":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          valid = try reader.readBool()
        case "reason":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "field":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          field = try reader.readString()
        case "environment":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "payload":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
        case "transactionInfo", "transaction_info":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          transactionInfo = try reader.readObjectValue()
        case "renewalInfo", "renewal_info":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          renewalInfo = try reader.readObjectValue()
        case "appTransactionInfo", "app_transaction_info":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          appTransactionInfo = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let valid {
      writer.key("valid")
      writer.bool(valid)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let field {
      writer.key("field")
      writer.string(field)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    if let transactionInfo {
      writer.key("transactionInfo")
      writer.object(transactionInfo)
    }
    if let renewalInfo {
      writer.key("renewalInfo")
      writer.object(renewalInfo)
    }
    if let appTransactionInfo {
      writer.key("appTransactionInfo")
      writer.object(appTransactionInfo)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetSubscriptionStateRequest: RPCMessage, Hashable {
  public var originalTransactionId: String?
  public var environment: String?

  public init(
    originalTransactionId: String? = nil,
    environment: String? = nil
  ) {
    self.originalTransactionId = originalTransactionId
    self.environment = environment
  }

  public init() {
    self.originalTransactionId = nil
    self.environment = nil
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
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let originalTransactionId {
      writer.key("originalTransactionId")
      writer.string(originalTransactionId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetSubscriptionStateResponse: RPCMessage, Hashable {
  /// active, active-not-renewing, grace-period, billing-retry, expired, revoked, or unknown-overdue when nothing was heard past
  /// the end.
  public var state: String
  /// When it came into this state.
  public var since: Timestamp?
  /// In Apple's order: notificationUUID, notificationType, subtype, signedDate, the state after it, whether it was late, and the
  /// originalTransactionId that it names.
  public var notifications: [JSONObject]
  public var productId: String?
  /// Of the newest period.
  public var transactionId: String?
  public var expiresDate: Timestamp?
  public var gracePeriodExpiresDate: Timestamp?
  public var revocationDate: Timestamp?
  public var autoRenew: Bool?
  public var autoRenewProductId: String?
  /// Whether the customer has what was paid for; absent when that is for you to say.
  public var hasAccess: Bool?
  /// Where notifications are missing: id, rules, missing, after, before, shownBy.
  public var gaps: [JSONObject]
  /// What the state came from last: notifications, or status when Apple was asked for it.
  public var source: String
  /// Gaps that were looked into and that no notification fills, by their ids; the state was asked for then.
  public var settledGaps: [String]
  /// The ids that the subscription has had, the oldest first: more than one after a migration. Asked by any of them, all is answered
  /// as of the last.
  public var originalTransactionIds: [String]

  public init(
    state: String = "",
    since: Timestamp? = nil,
    notifications: [JSONObject] = [],
    productId: String? = nil,
    transactionId: String? = nil,
    expiresDate: Timestamp? = nil,
    gracePeriodExpiresDate: Timestamp? = nil,
    revocationDate: Timestamp? = nil,
    autoRenew: Bool? = nil,
    autoRenewProductId: String? = nil,
    hasAccess: Bool? = nil,
    gaps: [JSONObject] = [],
    source: String = "",
    settledGaps: [String] = [],
    originalTransactionIds: [String] = []
  ) {
    self.state = state
    self.since = since
    self.notifications = notifications
    self.productId = productId
    self.transactionId = transactionId
    self.expiresDate = expiresDate
    self.gracePeriodExpiresDate = gracePeriodExpiresDate
    self.revocationDate = revocationDate
    self.autoRenew = autoRenew
    self.autoRenewProductId = autoRenewProductId
    self.hasAccess = hasAccess
    self.gaps = gaps
    self.source = source
    self.settledGaps = settledGaps
    self.originalTransactionIds = originalTransactionIds
  }

  public init() {
    self.state = ""
    self.since = nil
    self.notifications = []
    self.productId = nil
    self.transactionId = nil
    self.expiresDate = nil
    self.gracePeriodExpiresDate = nil
    self.revocationDate = nil
    self.autoRenew = nil
    self.autoRenewProductId = nil
    self.hasAccess = nil
    self.gaps = []
    self.source = ""
    self.settledGaps = []
    self.originalTransactionIds = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "state":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "since":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          since = try reader.readTimestamp()
        case "notifications":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          notifications = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "productId", "product_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "expiresDate", "expires_date":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          expiresDate = try reader.readTimestamp()
        case "gracePeriodExpiresDate", "grace_period_expires_date":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          gracePeriodExpiresDate = try reader.readTimestamp()
        case "revocationDate", "revocation_date":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          revocationDate = try reader.readTimestamp()
        case "autoRenew", "auto_renew":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          autoRenew = try reader.readBool()
        case "autoRenewProductId", "auto_renew_product_id":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          autoRenewProductId = try reader.readString()
        case "hasAccess", "has_access":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          hasAccess = try reader.readBool()
        case "gaps":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          gaps = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "source":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          source = try reader.readString()
        case "settledGaps", "settled_gaps":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          settledGaps = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "originalTransactionIds", "original_transaction_ids":
          try seen.insert(14, key)
          if try reader.readNull() { continue }
          originalTransactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let since {
      writer.key("since")
      writer.string(since.text)
    }
    if !notifications.isEmpty {
      writer.key("notifications")
      writer.beginArray()
      for element in notifications { writer.object(element) }
      writer.endArray()
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let expiresDate {
      writer.key("expiresDate")
      writer.string(expiresDate.text)
    }
    if let gracePeriodExpiresDate {
      writer.key("gracePeriodExpiresDate")
      writer.string(gracePeriodExpiresDate.text)
    }
    if let revocationDate {
      writer.key("revocationDate")
      writer.string(revocationDate.text)
    }
    if let autoRenew {
      writer.key("autoRenew")
      writer.bool(autoRenew)
    }
    if let autoRenewProductId {
      writer.key("autoRenewProductId")
      writer.string(autoRenewProductId)
    }
    if let hasAccess {
      writer.key("hasAccess")
      writer.bool(hasAccess)
    }
    if !gaps.isEmpty {
      writer.key("gaps")
      writer.beginArray()
      for element in gaps { writer.object(element) }
      writer.endArray()
    }
    if !source.isEmpty {
      writer.key("source")
      writer.string(source)
    }
    if !settledGaps.isEmpty {
      writer.key("settledGaps")
      writer.beginArray()
      for element in settledGaps { writer.string(element) }
      writer.endArray()
    }
    if !originalTransactionIds.isEmpty {
      writer.key("originalTransactionIds")
      writer.beginArray()
      for element in originalTransactionIds { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}
