// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// Apple's attribution record; see "AdServices: exchanging Apple Ads attribution tokens".
public struct AttributionRecord: RPCMessage, Hashable {
  public var attribution: Bool?
  public var orgId: Int64?
  public var campaignId: Int64?
  public var adGroupId: Int64?
  public var keywordId: Int64?
  public var adId: Int64?
  public var creativeSetId: Int64?
  /// Download, Redownload or PreOrder, always in this spelling. Other values of Apple's are unchanged.
  public var conversionType: String?
  /// Click or Impression.
  public var claimType: String?
  public var clickDate: String?
  public var impressionDate: String?
  public var countryOrRegion: String?
  public var supplyPlacement: String?
  /// The complete record, as Apple sent it.
  public var raw: JSONObject?

  public init(
    attribution: Bool? = nil,
    orgId: Int64? = nil,
    campaignId: Int64? = nil,
    adGroupId: Int64? = nil,
    keywordId: Int64? = nil,
    adId: Int64? = nil,
    creativeSetId: Int64? = nil,
    conversionType: String? = nil,
    claimType: String? = nil,
    clickDate: String? = nil,
    impressionDate: String? = nil,
    countryOrRegion: String? = nil,
    supplyPlacement: String? = nil,
    raw: JSONObject? = nil
  ) {
    self.attribution = attribution
    self.orgId = orgId
    self.campaignId = campaignId
    self.adGroupId = adGroupId
    self.keywordId = keywordId
    self.adId = adId
    self.creativeSetId = creativeSetId
    self.conversionType = conversionType
    self.claimType = claimType
    self.clickDate = clickDate
    self.impressionDate = impressionDate
    self.countryOrRegion = countryOrRegion
    self.supplyPlacement = supplyPlacement
    self.raw = raw
  }

  public init() {
    self.attribution = nil
    self.orgId = nil
    self.campaignId = nil
    self.adGroupId = nil
    self.keywordId = nil
    self.adId = nil
    self.creativeSetId = nil
    self.conversionType = nil
    self.claimType = nil
    self.clickDate = nil
    self.impressionDate = nil
    self.countryOrRegion = nil
    self.supplyPlacement = nil
    self.raw = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "attribution":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          attribution = try reader.readBool()
        case "orgId", "org_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          orgId = try reader.readInt64()
        case "campaignId", "campaign_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          campaignId = try reader.readInt64()
        case "adGroupId", "ad_group_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          adGroupId = try reader.readInt64()
        case "keywordId", "keyword_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          keywordId = try reader.readInt64()
        case "adId", "ad_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          adId = try reader.readInt64()
        case "creativeSetId", "creative_set_id":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          creativeSetId = try reader.readInt64()
        case "conversionType", "conversion_type":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          conversionType = try reader.readString()
        case "claimType", "claim_type":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          claimType = try reader.readString()
        case "clickDate", "click_date":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          clickDate = try reader.readString()
        case "impressionDate", "impression_date":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          impressionDate = try reader.readString()
        case "countryOrRegion", "country_or_region":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          countryOrRegion = try reader.readString()
        case "supplyPlacement", "supply_placement":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          supplyPlacement = try reader.readString()
        case "raw":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          raw = try reader.readObjectValue()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let attribution {
      writer.key("attribution")
      writer.bool(attribution)
    }
    if let orgId {
      writer.key("orgId")
      writer.int64(orgId)
    }
    if let campaignId {
      writer.key("campaignId")
      writer.int64(campaignId)
    }
    if let adGroupId {
      writer.key("adGroupId")
      writer.int64(adGroupId)
    }
    if let keywordId {
      writer.key("keywordId")
      writer.int64(keywordId)
    }
    if let adId {
      writer.key("adId")
      writer.int64(adId)
    }
    if let creativeSetId {
      writer.key("creativeSetId")
      writer.int64(creativeSetId)
    }
    if let conversionType {
      writer.key("conversionType")
      writer.string(conversionType)
    }
    if let claimType {
      writer.key("claimType")
      writer.string(claimType)
    }
    if let clickDate {
      writer.key("clickDate")
      writer.string(clickDate)
    }
    if let impressionDate {
      writer.key("impressionDate")
      writer.string(impressionDate)
    }
    if let countryOrRegion {
      writer.key("countryOrRegion")
      writer.string(countryOrRegion)
    }
    if let supplyPlacement {
      writer.key("supplyPlacement")
      writer.string(supplyPlacement)
    }
    if let raw {
      writer.key("raw")
      writer.object(raw)
    }
    writer.endObject()
  }
}

/// See `attribution/asa/v1/asa.proto`.
public struct ExchangeTokenRequest: RPCMessage, Hashable {
  /// The result of AAAttribution.attributionToken(), unchanged.
  public var token: String?
  public var bundleId: String?
  /// ATTrackingManager.AuthorizationStatus, 0 to 3; -1 if the app could not read it.
  public var attStatus: Int32?
  /// When the app got the token; default: now.
  public var requestedAt: Timestamp?
  public var installId: String?
  /// How long to wait for the result, up to 30,000; default 0.
  public var waitMilliseconds: Int32?

  public init(
    token: String? = nil,
    bundleId: String? = nil,
    attStatus: Int32? = nil,
    requestedAt: Timestamp? = nil,
    installId: String? = nil,
    waitMilliseconds: Int32? = nil
  ) {
    self.token = token
    self.bundleId = bundleId
    self.attStatus = attStatus
    self.requestedAt = requestedAt
    self.installId = installId
    self.waitMilliseconds = waitMilliseconds
  }

  public init() {
    self.token = nil
    self.bundleId = nil
    self.attStatus = nil
    self.requestedAt = nil
    self.installId = nil
    self.waitMilliseconds = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "token":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          token = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "attStatus", "att_status":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          attStatus = try reader.readInt32()
        case "requestedAt", "requested_at":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          requestedAt = try reader.readTimestamp()
        case "installId", "install_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          installId = try reader.readString()
        case "waitMilliseconds", "wait_milliseconds":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          waitMilliseconds = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let token {
      writer.key("token")
      writer.string(token)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let attStatus {
      writer.key("attStatus")
      writer.int(attStatus)
    }
    if let requestedAt {
      writer.key("requestedAt")
      writer.string(requestedAt.text)
    }
    if let installId {
      writer.key("installId")
      writer.string(installId)
    }
    if let waitMilliseconds {
      writer.key("waitMilliseconds")
      writer.int(waitMilliseconds)
    }
    writer.endObject()
  }
}

/// See `attribution/asa/v1/asa.proto`.
public struct ExchangeTokenResponse: RPCMessage, Hashable {
  public var exchangeId: String
  /// attributed, not_attributed, pending, expired, invalid or failed.
  public var state: String
  public var record: AttributionRecord?
  /// standard or detailed.
  public var detail: String?
  /// Whether the record's detail contradicts the ATT status that the app reported.
  public var attMismatch: Bool?
  /// Whether it is Apple's placeholder for development builds.
  public var test: Bool?
  public var attempts: Int32?
  /// Why there is no record.
  public var reason: String?
  public var bundleId: String?
  public var installId: String?

  public init(
    exchangeId: String = "",
    state: String = "",
    record: AttributionRecord? = nil,
    detail: String? = nil,
    attMismatch: Bool? = nil,
    test: Bool? = nil,
    attempts: Int32? = nil,
    reason: String? = nil,
    bundleId: String? = nil,
    installId: String? = nil
  ) {
    self.exchangeId = exchangeId
    self.state = state
    self.record = record
    self.detail = detail
    self.attMismatch = attMismatch
    self.test = test
    self.attempts = attempts
    self.reason = reason
    self.bundleId = bundleId
    self.installId = installId
  }

  public init() {
    self.exchangeId = ""
    self.state = ""
    self.record = nil
    self.detail = nil
    self.attMismatch = nil
    self.test = nil
    self.attempts = nil
    self.reason = nil
    self.bundleId = nil
    self.installId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "exchangeId", "exchange_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          exchangeId = try reader.readString()
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "record":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          record = try AttributionRecord(reading: &reader)
        case "detail":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          detail = try reader.readString()
        case "attMismatch", "att_mismatch":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          attMismatch = try reader.readBool()
        case "test":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          test = try reader.readBool()
        case "attempts":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          attempts = try reader.readInt32()
        case "reason":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          reason = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "installId", "install_id":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          installId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !exchangeId.isEmpty {
      writer.key("exchangeId")
      writer.string(exchangeId)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let record {
      writer.key("record")
      record.write(to: &writer)
    }
    if let detail {
      writer.key("detail")
      writer.string(detail)
    }
    if let attMismatch {
      writer.key("attMismatch")
      writer.bool(attMismatch)
    }
    if let test {
      writer.key("test")
      writer.bool(test)
    }
    if let attempts {
      writer.key("attempts")
      writer.int(attempts)
    }
    if let reason {
      writer.key("reason")
      writer.string(reason)
    }
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let installId {
      writer.key("installId")
      writer.string(installId)
    }
    writer.endObject()
  }
}
