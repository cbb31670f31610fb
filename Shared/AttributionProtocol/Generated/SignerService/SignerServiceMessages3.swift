// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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
  /// Milliseconds since 1970, at most a day from now; default: now.
  public var timestamp: Int64?
  /// Sign the timestamp also if it is more than a day from now. A timestamp in seconds is then not detected.
  public var anyTimestamp: Bool?

  public init(
    adNetworkId: String? = nil,
    sourceIdentifier: Int32? = nil,
    advertisedItemId: Int64? = nil,
    publisherItemId: Int64? = nil,
    impressionType: String? = nil,
    eligibleForReEngagement: Bool? = nil,
    impressionId: String? = nil,
    timestamp: Int64? = nil,
    anyTimestamp: Bool? = nil
  ) {
    self.adNetworkId = adNetworkId
    self.sourceIdentifier = sourceIdentifier
    self.advertisedItemId = advertisedItemId
    self.publisherItemId = publisherItemId
    self.impressionType = impressionType
    self.eligibleForReEngagement = eligibleForReEngagement
    self.impressionId = impressionId
    self.timestamp = timestamp
    self.anyTimestamp = anyTimestamp
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
    self.anyTimestamp = nil
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
        case "anyTimestamp", "any_timestamp":
          try seen.insert(8, key)
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
    if let anyTimestamp {
      writer.key("anyTimestamp")
      writer.bool(anyTimestamp)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignAdAttributionKitImpressionResponse: RPCMessage, Hashable {
  public var jws: String
  public var adNetworkId: String
  public var sourceIdentifier: Int32?
  public var advertisedItemId: Int64?
  public var publisherItemId: Int64?
  public var impressionType: String
  public var eligibleForReEngagement: Bool?
  public var impressionId: String
  public var timestamp: Int64?
  public var keyId: String
  /// The number of digits of the source identifier. If it has fewer than four, Apple does not define which digits a postback with fewer digits has.
  public var sourceIdentifierDigits: Int32?

  public init(
    jws: String = "",
    adNetworkId: String = "",
    sourceIdentifier: Int32? = nil,
    advertisedItemId: Int64? = nil,
    publisherItemId: Int64? = nil,
    impressionType: String = "",
    eligibleForReEngagement: Bool? = nil,
    impressionId: String = "",
    timestamp: Int64? = nil,
    keyId: String = "",
    sourceIdentifierDigits: Int32? = nil
  ) {
    self.jws = jws
    self.adNetworkId = adNetworkId
    self.sourceIdentifier = sourceIdentifier
    self.advertisedItemId = advertisedItemId
    self.publisherItemId = publisherItemId
    self.impressionType = impressionType
    self.eligibleForReEngagement = eligibleForReEngagement
    self.impressionId = impressionId
    self.timestamp = timestamp
    self.keyId = keyId
    self.sourceIdentifierDigits = sourceIdentifierDigits
  }

  public init() {
    self.jws = ""
    self.adNetworkId = ""
    self.sourceIdentifier = nil
    self.advertisedItemId = nil
    self.publisherItemId = nil
    self.impressionType = ""
    self.eligibleForReEngagement = nil
    self.impressionId = ""
    self.timestamp = nil
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
        case "jws":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          jws = try reader.readString()
        case "adNetworkId", "ad_network_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          adNetworkId = try reader.readString()
        case "sourceIdentifier", "source_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          sourceIdentifier = try reader.readInt32()
        case "advertisedItemId", "advertised_item_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          advertisedItemId = try reader.readInt64()
        case "publisherItemId", "publisher_item_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          publisherItemId = try reader.readInt64()
        case "impressionType", "impression_type":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          impressionType = try reader.readString()
        case "eligibleForReEngagement", "eligible_for_re_engagement":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          eligibleForReEngagement = try reader.readBool()
        case "impressionId", "impression_id":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          impressionId = try reader.readString()
        case "timestamp":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          timestamp = try reader.readInt64()
        case "keyId", "key_id":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          keyId = try reader.readString()
        case "sourceIdentifierDigits", "source_identifier_digits":
          try seen.insert(10, key)
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
    if !jws.isEmpty {
      writer.key("jws")
      writer.string(jws)
    }
    if !adNetworkId.isEmpty {
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
    if !impressionType.isEmpty {
      writer.key("impressionType")
      writer.string(impressionType)
    }
    if let eligibleForReEngagement {
      writer.key("eligibleForReEngagement")
      writer.bool(eligibleForReEngagement)
    }
    if !impressionId.isEmpty {
      writer.key("impressionId")
      writer.string(impressionId)
    }
    if let timestamp {
      writer.key("timestamp")
      writer.int64(timestamp)
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

/// One impression of one kind.
public struct ImpressionItem: RPCMessage, Hashable {
  public var skadnetwork: SignSKAdNetworkImpressionRequest?
  public var skadnetworkWeb: SignSKAdNetworkWebImpressionRequest?
  public var adAttributionKit: SignAdAttributionKitImpressionRequest?

  public init(
    skadnetwork: SignSKAdNetworkImpressionRequest? = nil,
    skadnetworkWeb: SignSKAdNetworkWebImpressionRequest? = nil,
    adAttributionKit: SignAdAttributionKitImpressionRequest? = nil
  ) {
    self.skadnetwork = skadnetwork
    self.skadnetworkWeb = skadnetworkWeb
    self.adAttributionKit = adAttributionKit
  }

  public init() {
    self.skadnetwork = nil
    self.skadnetworkWeb = nil
    self.adAttributionKit = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "skadnetwork":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          skadnetwork = try SignSKAdNetworkImpressionRequest(reading: &reader)
          if skadnetworkWeb != nil || adAttributionKit != nil { throw JSONError(.outOfRange("only one of the alternatives may be given")) }
        case "skadnetworkWeb", "skadnetwork_web":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          skadnetworkWeb = try SignSKAdNetworkWebImpressionRequest(reading: &reader)
          if skadnetwork != nil || adAttributionKit != nil { throw JSONError(.outOfRange("only one of the alternatives may be given")) }
        case "adAttributionKit", "ad_attribution_kit":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          adAttributionKit = try SignAdAttributionKitImpressionRequest(reading: &reader)
          if skadnetwork != nil || skadnetworkWeb != nil { throw JSONError(.outOfRange("only one of the alternatives may be given")) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let skadnetwork {
      writer.key("skadnetwork")
      skadnetwork.write(to: &writer)
    }
    if let skadnetworkWeb {
      writer.key("skadnetworkWeb")
      skadnetworkWeb.write(to: &writer)
    }
    if let adAttributionKit {
      writer.key("adAttributionKit")
      adAttributionKit.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/signer/v1/signer.proto`.
public struct SignImpressionsRequest: RPCMessage, Hashable {
  /// Up to 1,000.
  public var items: [ImpressionItem]

  public init(
    items: [ImpressionItem] = []
  ) {
    self.items = items
  }

  public init() {
    self.items = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "items":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          items = try reader.readList { (reader) throws(JSONError) in try ImpressionItem(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !items.isEmpty {
      writer.key("items")
      writer.beginArray()
      for element in items { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
