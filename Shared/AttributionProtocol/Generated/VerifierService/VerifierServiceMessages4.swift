// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetOneTimePurchaseStateResponse: RPCMessage, Hashable {
  /// purchased, refunded (in whole or in part), or revoked (Family Sharing or the assignment of a seat ended).
  public var state: String
  /// When this state began.
  public var since: Timestamp?
  /// Whether the customer has the purchase; absent if your system must decide that, because only a part of the price was refunded.
  public var hasAccess: Bool?
  public var productId: String?
  public var purchaseDate: Timestamp?
  public var revocationDate: Timestamp?
  /// REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE or ASSIGNMENT_REVOKE.
  public var revocationType: String?
  /// In the order in which Apple signed them. Members: notificationUUID, notificationType, signedDate, the state after it, and whether it was
  /// late. A transaction that was looked up at Apple has the type TRANSACTION_OBSERVED.
  public var notifications: [JSONObject]

  public init(
    state: String = "",
    since: Timestamp? = nil,
    hasAccess: Bool? = nil,
    productId: String? = nil,
    purchaseDate: Timestamp? = nil,
    revocationDate: Timestamp? = nil,
    revocationType: String? = nil,
    notifications: [JSONObject] = []
  ) {
    self.state = state
    self.since = since
    self.hasAccess = hasAccess
    self.productId = productId
    self.purchaseDate = purchaseDate
    self.revocationDate = revocationDate
    self.revocationType = revocationType
    self.notifications = notifications
  }

  public init() {
    self.state = ""
    self.since = nil
    self.hasAccess = nil
    self.productId = nil
    self.purchaseDate = nil
    self.revocationDate = nil
    self.revocationType = nil
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
        case "hasAccess", "has_access":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          hasAccess = try reader.readBool()
        case "productId", "product_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "purchaseDate", "purchase_date":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          purchaseDate = try reader.readTimestamp()
        case "revocationDate", "revocation_date":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          revocationDate = try reader.readTimestamp()
        case "revocationType", "revocation_type":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          revocationType = try reader.readString()
        case "notifications":
          try seen.insert(7, key)
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
    if let hasAccess {
      writer.key("hasAccess")
      writer.bool(hasAccess)
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let purchaseDate {
      writer.key("purchaseDate")
      writer.string(purchaseDate.text)
    }
    if let revocationDate {
      writer.key("revocationDate")
      writer.string(revocationDate.text)
    }
    if let revocationType {
      writer.key("revocationType")
      writer.string(revocationType)
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

/// An impression in the form of SignSKAdNetworkImpression's answer.
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

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAdAttributionKitImpressionRequest: RPCMessage, Hashable {
  public var jws: String?

  public init(
    jws: String? = nil
  ) {
    self.jws = jws
  }

  public init() {
    self.jws = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "jws":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          jws = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let jws {
      writer.key("jws")
      writer.string(jws)
    }
    writer.endObject()
  }
}
