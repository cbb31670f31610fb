// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// SKAdNetwork impression: the values that are signed. Apple's "Combining parameters" pages list the values of each version.
public struct SignSKAdNetworkImpressionRequest: RPCMessage, Hashable {
  /// "1.0", "2.0", "2.1", "2.2", "3.0" or "4.0".
  public var version: String?
  /// The ad network's id, lower case.
  public var adNetworkId: String?
  /// 1 to 100; up to version 3.0.
  public var campaignId: Int32?
  /// 0 to 9999; version 4.0.
  public var sourceIdentifier: Int32?
  /// App Store id of the advertised app.
  public var itunesItemId: Int64?
  /// App Store id of the app that shows the ad; 0 for a development impression. From version 2.0 on.
  public var sourceAppId: Int64?
  /// The site that shows the ad (web ads, 4.0): a registrable domain in lower case.
  public var sourceDomain: String?
  /// 1: StoreKit-rendered and web ads. 0: view-through. From version 2.2 on.
  public var fidelityType: Int32?
  /// A UUID, unique for each impression; created if absent.
  public var nonce: String?
  /// Milliseconds since 1970, at most a day from now; default: now.
  public var timestamp: Int64?
  /// Sign the timestamp also if it is more than a day from now. A timestamp in seconds is then not detected.
  public var anyTimestamp: Bool?

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
    anyTimestamp: Bool? = nil
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
    self.anyTimestamp = anyTimestamp
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
        case "anyTimestamp", "any_timestamp":
          try seen.insert(10, key)
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
    if let anyTimestamp {
      writer.key("anyTimestamp")
      writer.bool(anyTimestamp)
    }
    writer.endObject()
  }
}

/// All values as they were signed.
public struct SignSKAdNetworkImpressionResponse: RPCMessage, Hashable {
  public var version: String
  public var adNetworkId: String
  public var campaignId: Int32?
  public var sourceIdentifier: Int32?
  public var itunesItemId: Int64?
  public var sourceAppId: Int64?
  public var sourceDomain: String?
  public var fidelityType: Int32?
  /// Lower case, as signed.
  public var nonce: String
  public var timestamp: Int64?
  /// DER in standard Base64.
  public var signature: String
  public var keyId: String
  /// The number of digits of the source identifier. If it has fewer than four, Apple does not define which digits a postback with fewer digits has.
  public var sourceIdentifierDigits: Int32?

  public init(
    version: String = "",
    adNetworkId: String = "",
    campaignId: Int32? = nil,
    sourceIdentifier: Int32? = nil,
    itunesItemId: Int64? = nil,
    sourceAppId: Int64? = nil,
    sourceDomain: String? = nil,
    fidelityType: Int32? = nil,
    nonce: String = "",
    timestamp: Int64? = nil,
    signature: String = "",
    keyId: String = "",
    sourceIdentifierDigits: Int32? = nil
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
    self.keyId = keyId
    self.sourceIdentifierDigits = sourceIdentifierDigits
  }

  public init() {
    self.version = ""
    self.adNetworkId = ""
    self.campaignId = nil
    self.sourceIdentifier = nil
    self.itunesItemId = nil
    self.sourceAppId = nil
    self.sourceDomain = nil
    self.fidelityType = nil
    self.nonce = ""
    self.timestamp = nil
    self.signature = ""
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
        case "keyId", "key_id":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "sourceIdentifierDigits", "source_identifier_digits":
          try seen.insert(12, key)
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
    if !version.isEmpty {
      writer.key("version")
      writer.string(version)
    }
    if !adNetworkId.isEmpty {
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
    if !nonce.isEmpty {
      writer.key("nonce")
      writer.string(nonce)
    }
    if let timestamp {
      writer.key("timestamp")
      writer.int64(timestamp)
    }
    if !signature.isEmpty {
      writer.key("signature")
      writer.string(signature)
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
