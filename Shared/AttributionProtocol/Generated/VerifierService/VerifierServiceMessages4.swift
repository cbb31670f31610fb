// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

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

/// See `attribution/verifier/v1/verifier.proto`.
public struct VerifyAdAttributionKitImpressionResponse: RPCMessage, Hashable {
  public var valid: Bool?
  public var reason: String?
  public var field: String?
  public var keyId: String?
  public var payload: JSONObject?

  public init(
    valid: Bool? = nil,
    reason: String? = nil,
    field: String? = nil,
    keyId: String? = nil,
    payload: JSONObject? = nil
  ) {
    self.valid = valid
    self.reason = reason
    self.field = field
    self.keyId = keyId
    self.payload = payload
  }

  public init() {
    self.valid = nil
    self.reason = nil
    self.field = nil
    self.keyId = nil
    self.payload = nil
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
        case "payload":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          payload = try reader.readObjectValue()
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
    if let payload {
      writer.key("payload")
      writer.object(payload)
    }
    writer.endObject()
  }
}

/// One item of one kind to verify.
public struct VerifyItem: RPCMessage, Hashable {
  public var skadnetworkPostback: VerifySKAdNetworkPostbackRequest?
  public var adAttributionKitPostback: VerifyAdAttributionKitPostbackRequest?
  public var appStoreSignedData: VerifyAppStoreSignedDataRequest?
  public var skadnetworkImpression: VerifySKAdNetworkImpressionRequest?
  public var adAttributionKitImpression: VerifyAdAttributionKitImpressionRequest?

  public init(
    skadnetworkPostback: VerifySKAdNetworkPostbackRequest? = nil,
    adAttributionKitPostback: VerifyAdAttributionKitPostbackRequest? = nil,
    appStoreSignedData: VerifyAppStoreSignedDataRequest? = nil,
    skadnetworkImpression: VerifySKAdNetworkImpressionRequest? = nil,
    adAttributionKitImpression: VerifyAdAttributionKitImpressionRequest? = nil
  ) {
    self.skadnetworkPostback = skadnetworkPostback
    self.adAttributionKitPostback = adAttributionKitPostback
    self.appStoreSignedData = appStoreSignedData
    self.skadnetworkImpression = skadnetworkImpression
    self.adAttributionKitImpression = adAttributionKitImpression
  }

  public init() {
    self.skadnetworkPostback = nil
    self.adAttributionKitPostback = nil
    self.appStoreSignedData = nil
    self.skadnetworkImpression = nil
    self.adAttributionKitImpression = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "skadnetworkPostback", "skadnetwork_postback":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          skadnetworkPostback = try VerifySKAdNetworkPostbackRequest(reading: &reader)
          if adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "adAttributionKitPostback", "ad_attribution_kit_postback":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          adAttributionKitPostback = try VerifyAdAttributionKitPostbackRequest(reading: &reader)
          if skadnetworkPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil || adAttributionKitImpression != nil {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "appStoreSignedData", "app_store_signed_data":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          appStoreSignedData = try VerifyAppStoreSignedDataRequest(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || skadnetworkImpression != nil
            || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "skadnetworkImpression", "skadnetwork_impression":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          skadnetworkImpression = try VerifySKAdNetworkImpressionRequest(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || adAttributionKitImpression != nil
          {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        case "adAttributionKitImpression", "ad_attribution_kit_impression":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          adAttributionKitImpression = try VerifyAdAttributionKitImpressionRequest(reading: &reader)
          if skadnetworkPostback != nil || adAttributionKitPostback != nil || appStoreSignedData != nil || skadnetworkImpression != nil {
            throw JSONError(.outOfRange("only one of its kinds may stand in an item"))
          }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let skadnetworkPostback {
      writer.key("skadnetworkPostback")
      skadnetworkPostback.write(to: &writer)
    }
    if let adAttributionKitPostback {
      writer.key("adAttributionKitPostback")
      adAttributionKitPostback.write(to: &writer)
    }
    if let appStoreSignedData {
      writer.key("appStoreSignedData")
      appStoreSignedData.write(to: &writer)
    }
    if let skadnetworkImpression {
      writer.key("skadnetworkImpression")
      skadnetworkImpression.write(to: &writer)
    }
    if let adAttributionKitImpression {
      writer.key("adAttributionKitImpression")
      adAttributionKitImpression.write(to: &writer)
    }
    writer.endObject()
  }
}
