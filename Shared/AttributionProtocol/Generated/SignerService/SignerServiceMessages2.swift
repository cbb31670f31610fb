// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/signer/v1/signer.proto`.
public struct SignSKAdNetworkWebImpressionRequest: RPCMessage, Hashable {
  public var version: String?
  public var adNetworkId: String?
  public var sourceIdentifier: Int32?
  public var itunesItemId: Int64?
  public var sourceDomain: String?
  public var nonce: String?
  public var timestamp: Int64?
  /// Store the impression until the device requests it, instead of signing it now; timestamp must then be absent.
  public var deferred: Bool?
  /// With deferred: the sites for which it may be signed. If this list and source_domain are absent, any site that the device names.
  public var sourceDomains: [String]

  public init(
    version: String? = nil,
    adNetworkId: String? = nil,
    sourceIdentifier: Int32? = nil,
    itunesItemId: Int64? = nil,
    sourceDomain: String? = nil,
    nonce: String? = nil,
    timestamp: Int64? = nil,
    deferred: Bool? = nil,
    sourceDomains: [String] = []
  ) {
    self.version = version
    self.adNetworkId = adNetworkId
    self.sourceIdentifier = sourceIdentifier
    self.itunesItemId = itunesItemId
    self.sourceDomain = sourceDomain
    self.nonce = nonce
    self.timestamp = timestamp
    self.deferred = deferred
    self.sourceDomains = sourceDomains
  }

  public init() {
    self.version = nil
    self.adNetworkId = nil
    self.sourceIdentifier = nil
    self.itunesItemId = nil
    self.sourceDomain = nil
    self.nonce = nil
    self.timestamp = nil
    self.deferred = nil
    self.sourceDomains = []
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
        case "sourceIdentifier", "source_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          sourceIdentifier = try reader.readInt32()
        case "itunesItemId", "itunes_item_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          itunesItemId = try reader.readInt64()
        case "sourceDomain", "source_domain":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          sourceDomain = try reader.readString()
        case "nonce":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          nonce = try reader.readString()
        case "timestamp":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          timestamp = try reader.readInt64()
        case "deferred":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          deferred = try reader.readBool()
        case "sourceDomains", "source_domains":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          sourceDomains = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
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
    if let sourceIdentifier {
      writer.key("sourceIdentifier")
      writer.int(sourceIdentifier)
    }
    if let itunesItemId {
      writer.key("itunesItemId")
      writer.int64(itunesItemId)
    }
    if let sourceDomain {
      writer.key("sourceDomain")
      writer.string(sourceDomain)
    }
    if let nonce {
      writer.key("nonce")
      writer.string(nonce)
    }
    if let timestamp {
      writer.key("timestamp")
      writer.int64(timestamp)
    }
    if let deferred {
      writer.key("deferred")
      writer.bool(deferred)
    }
    if !sourceDomains.isEmpty {
      writer.key("sourceDomains")
      writer.beginArray()
      for element in sourceDomains { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignSKAdNetworkWebImpressionResponse: RPCMessage, Hashable {
  /// The payload for the device, under Apple's names.
  public var payload: JSONObject?
  /// The UUID with dashes, in lower case.
  public var nonce: String
  /// The same UUID in the form of attributionSourceNonce: its 16 bytes in Base64URL, unpadded.
  public var attributionSourceNonce: String
  public var keyId: String

  public init(
    payload: JSONObject? = nil,
    nonce: String = "",
    attributionSourceNonce: String = "",
    keyId: String = ""
  ) {
    self.payload = payload
    self.nonce = nonce
    self.attributionSourceNonce = attributionSourceNonce
    self.keyId = keyId
  }

  public init() {
    self.payload = nil
    self.nonce = ""
    self.attributionSourceNonce = ""
    self.keyId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "payload":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
        case "nonce":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          nonce = try reader.readString()
        case "attributionSourceNonce", "attribution_source_nonce":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          attributionSourceNonce = try reader.readString()
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
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    if !nonce.isEmpty {
      writer.key("nonce")
      writer.string(nonce)
    }
    if !attributionSourceNonce.isEmpty {
      writer.key("attributionSourceNonce")
      writer.string(attributionSourceNonce)
    }
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}

/// The device's request (Get a Signed Web Ad Impression Payload).
public struct SignDeferredSKAdNetworkWebImpressionRequest: RPCMessage, Hashable {
  /// The nonce in the form of the link: its 16 bytes in Base64URL.
  public var sourceNonce: String?
  public var sourceDomain: String?
  /// "4.0" or later.
  public var version: String?

  public init(
    sourceNonce: String? = nil,
    sourceDomain: String? = nil,
    version: String? = nil
  ) {
    self.sourceNonce = sourceNonce
    self.sourceDomain = sourceDomain
    self.version = version
  }

  public init() {
    self.sourceNonce = nil
    self.sourceDomain = nil
    self.version = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "sourceNonce", "source_nonce":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          sourceNonce = try reader.readString()
        case "sourceDomain", "source_domain":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          sourceDomain = try reader.readString()
        case "version":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          version = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let sourceNonce {
      writer.key("sourceNonce")
      writer.string(sourceNonce)
    }
    if let sourceDomain {
      writer.key("sourceDomain")
      writer.string(sourceDomain)
    }
    if let version {
      writer.key("version")
      writer.string(version)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignDeferredSKAdNetworkWebImpressionResponse: RPCMessage, Hashable {
  /// The payload for the device, under Apple's names.
  public var payload: JSONObject?
  public var keyId: String

  public init(
    payload: JSONObject? = nil,
    keyId: String = ""
  ) {
    self.payload = payload
    self.keyId = keyId
  }

  public init() {
    self.payload = nil
    self.keyId = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "payload":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
        case "keyId", "key_id":
          try seen.insert(1, key)
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
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    if !keyId.isEmpty {
      writer.key("keyId")
      writer.string(keyId)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignAdAttributionKitImpressionRequest: RPCMessage, Hashable {
  /// The ad network's id, lower case; also the JWS header's kid.
  public var adNetworkId: String?
  /// 0 to 9999.
  public var sourceIdentifier: Int32?
  public var advertisedItemId: Int64?
  /// 0 for a development impression.
  public var publisherItemId: Int64?
  /// "app-impression".
  public var impressionType: String?
  public var eligibleForReEngagement: Bool?
  /// A UUID; created if absent.
  public var impressionId: String?
  /// Milliseconds since 1970; default: now.
  public var timestamp: Int64?

  public init(
    adNetworkId: String? = nil,
    sourceIdentifier: Int32? = nil,
    advertisedItemId: Int64? = nil,
    publisherItemId: Int64? = nil,
    impressionType: String? = nil,
    eligibleForReEngagement: Bool? = nil,
    impressionId: String? = nil,
    timestamp: Int64? = nil
  ) {
    self.adNetworkId = adNetworkId
    self.sourceIdentifier = sourceIdentifier
    self.advertisedItemId = advertisedItemId
    self.publisherItemId = publisherItemId
    self.impressionType = impressionType
    self.eligibleForReEngagement = eligibleForReEngagement
    self.impressionId = impressionId
    self.timestamp = timestamp
  }

  public init() {
    self.adNetworkId = nil
    self.sourceIdentifier = nil
    self.advertisedItemId = nil
    self.publisherItemId = nil
    self.impressionType = nil
    self.eligibleForReEngagement = nil
    self.impressionId = nil
    self.timestamp = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "adNetworkId", "ad_network_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "sourceIdentifier", "source_identifier":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          sourceIdentifier = try reader.readInt32()
        case "advertisedItemId", "advertised_item_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          advertisedItemId = try reader.readInt64()
        case "publisherItemId", "publisher_item_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          publisherItemId = try reader.readInt64()
        case "impressionType", "impression_type":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          impressionType = try reader.readString()
        case "eligibleForReEngagement", "eligible_for_re_engagement":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          eligibleForReEngagement = try reader.readBool()
        case "impressionId", "impression_id":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          impressionId = try reader.readString()
        case "timestamp":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          timestamp = try reader.readInt64()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let adNetworkId {
      writer.key("adNetworkId")
      writer.string(adNetworkId)
    }
    if let sourceIdentifier {
      writer.key("sourceIdentifier")
      writer.int(sourceIdentifier)
    }
    if let advertisedItemId {
      writer.key("advertisedItemId")
      writer.int64(advertisedItemId)
    }
    if let publisherItemId {
      writer.key("publisherItemId")
      writer.int64(publisherItemId)
    }
    if let impressionType {
      writer.key("impressionType")
      writer.string(impressionType)
    }
    if let eligibleForReEngagement {
      writer.key("eligibleForReEngagement")
      writer.bool(eligibleForReEngagement)
    }
    if let impressionId {
      writer.key("impressionId")
      writer.string(impressionId)
    }
    if let timestamp {
      writer.key("timestamp")
      writer.int64(timestamp)
    }
    writer.endObject()
  }
}
