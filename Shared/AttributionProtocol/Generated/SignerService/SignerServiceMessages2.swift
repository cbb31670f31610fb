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
  /// Milliseconds since 1970, at most a day from now; default: now.
  public var timestamp: Int64?
  /// Store the impression for 24 hours, until the device requests it, instead of signing it now; timestamp and any_timestamp must then be absent.
  /// If the same impression is stored again, its 24 hours begin again.
  public var deferred: Bool?
  /// With deferred: the sites for which it may be signed. If this list and source_domain are absent, any site that the device names.
  public var sourceDomains: [String]
  /// Sign the timestamp also if it is more than a day from now. A timestamp in seconds is then not detected.
  public var anyTimestamp: Bool?

  public init(
    version: String? = nil,
    adNetworkId: String? = nil,
    sourceIdentifier: Int32? = nil,
    itunesItemId: Int64? = nil,
    sourceDomain: String? = nil,
    nonce: String? = nil,
    timestamp: Int64? = nil,
    deferred: Bool? = nil,
    sourceDomains: [String] = [],
    anyTimestamp: Bool? = nil
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
    self.anyTimestamp = anyTimestamp
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
    self.anyTimestamp = nil
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
        case "anyTimestamp", "any_timestamp":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          anyTimestamp = try reader.readBool()
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
    if let anyTimestamp {
      writer.key("anyTimestamp")
      writer.bool(anyTimestamp)
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
  /// The number of digits of the source identifier. If it has fewer than four, Apple does not define which digits a postback with fewer digits has.
  public var sourceIdentifierDigits: Int32?

  public init(
    payload: JSONObject? = nil,
    nonce: String = "",
    attributionSourceNonce: String = "",
    keyId: String = "",
    sourceIdentifierDigits: Int32? = nil
  ) {
    self.payload = payload
    self.nonce = nonce
    self.attributionSourceNonce = attributionSourceNonce
    self.keyId = keyId
    self.sourceIdentifierDigits = sourceIdentifierDigits
  }

  public init() {
    self.payload = nil
    self.nonce = ""
    self.attributionSourceNonce = ""
    self.keyId = ""
    self.sourceIdentifierDigits = nil
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
        case "sourceIdentifierDigits", "source_identifier_digits":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          sourceIdentifierDigits = try reader.readInt32()
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
    if let sourceIdentifierDigits {
      writer.key("sourceIdentifierDigits")
      writer.int(sourceIdentifierDigits)
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
