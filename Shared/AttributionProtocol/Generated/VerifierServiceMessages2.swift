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

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    environment: String? = nil,
    payload: JSONObject? = nil,
    transactionInfo: JSONObject? = nil,
    renewalInfo: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.environment = environment
    self.payload = payload
    self.transactionInfo = transactionInfo
    self.renewalInfo = renewalInfo
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.environment = nil
    self.payload = nil
    self.transactionInfo = nil
    self.renewalInfo = nil
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
  public var state: String
  public var since: Timestamp?
  public var notifications: [JSONObject]

  public init(
    state: String = "",
    since: Timestamp? = nil,
    notifications: [JSONObject] = []
  ) {
    self.state = state
    self.since = since
    self.notifications = notifications
  }

  public init() {
    self.state = ""
    self.since = nil
    self.notifications = []
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
    writer.endObject()
  }
}

/// An impression as SignSKAdNetworkImpression answered it.
public struct VerifySKAdNetworkImpressionRequest: RPCMessage, Hashable {
  public var version: String?
  public var adNetworkId: String?
  public var campaignId: Int32?
  public var sourceIdentifier: Int32?
  public var itunesItemId: Int64?
  public var sourceAppId: Int64?
  public var sourceDomain: String?
  public var fidelityType: Int32?
  public var nonce: String?
  public var timestamp: Int64?
  public var signature: String?

  public init(
    version: String? = nil,
    adNetworkId: String? = nil,
    campaignId: Int32? = nil,
    sourceIdentifier: Int32? = nil,
    itunesItemId: Int64? = nil,
    sourceAppId: Int64? = nil,
    sourceDomain: String? = nil,
    fidelityType: Int32? = nil,
    nonce: String? = nil,
    timestamp: Int64? = nil,
    signature: String? = nil
  ) {
    self.version = version
    self.adNetworkId = adNetworkId
    self.campaignId = campaignId
    self.sourceIdentifier = sourceIdentifier
    self.itunesItemId = itunesItemId
    self.sourceAppId = sourceAppId
    self.sourceDomain = sourceDomain
    self.fidelityType = fidelityType
    self.nonce = nonce
    self.timestamp = timestamp
    self.signature = signature
  }

  public init() {
    self.version = nil
    self.adNetworkId = nil
    self.campaignId = nil
    self.sourceIdentifier = nil
    self.itunesItemId = nil
    self.sourceAppId = nil
    self.sourceDomain = nil
    self.fidelityType = nil
    self.nonce = nil
    self.timestamp = nil
    self.signature = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "version":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          version = try reader.readString()
        case "adNetworkId", "ad_network_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "campaignId", "campaign_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          campaignId = try reader.readInt32()
        case "sourceIdentifier", "source_identifier":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          sourceIdentifier = try reader.readInt32()
        case "itunesItemId", "itunes_item_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          itunesItemId = try reader.readInt64()
        case "sourceAppId", "source_app_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          sourceAppId = try reader.readInt64()
        case "sourceDomain", "source_domain":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          sourceDomain = try reader.readString()
        case "fidelityType", "fidelity_type":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          fidelityType = try reader.readInt32()
        case "nonce":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          nonce = try reader.readString()
        case "timestamp":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          timestamp = try reader.readInt64()
        case "signature":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          signature = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let version {
      writer.key("version")
      writer.string(version)
    }
    if let adNetworkId {
      writer.key("adNetworkId")
      writer.string(adNetworkId)
    }
    if let campaignId {
      writer.key("campaignId")
      writer.int(campaignId)
    }
    if let sourceIdentifier {
      writer.key("sourceIdentifier")
      writer.int(sourceIdentifier)
    }
    if let itunesItemId {
      writer.key("itunesItemId")
      writer.int64(itunesItemId)
    }
    if let sourceAppId {
      writer.key("sourceAppId")
      writer.int64(sourceAppId)
    }
    if let sourceDomain {
      writer.key("sourceDomain")
      writer.string(sourceDomain)
    }
    if let fidelityType {
      writer.key("fidelityType")
      writer.int(fidelityType)
    }
    if let nonce {
      writer.key("nonce")
      writer.string(nonce)
    }
    if let timestamp {
      writer.key("timestamp")
      writer.int64(timestamp)
    }
    if let signature {
      writer.key("signature")
      writer.string(signature)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifySKAdNetworkImpressionResponse: RPCMessage, Hashable {
  public var valid: Bool?
  public var reason: String?
  public var field: String?
  public var keyId: String?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    keyId: String? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.keyId = keyId
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.keyId = nil
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
        case "keyId", "key_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
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
    if let keyId {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}
