// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// AdServices attribution record: Apple Ads' data about an installation.
public struct AdServicesRecordPayload: OpenMessage {
  public var attribution: Bool?
  public var orgId: Int64?
  public var campaignId: Int64?
  public var adGroupId: Int64?
  public var keywordId: Int64?
  public var adId: Int64?
  public var creativeSetId: Int64?
  /// Download, Redownload or PreOrder.
  public var conversionType: String?
  /// Click or Impression.
  public var claimType: String?
  public var clickDate: String?
  public var impressionDate: String?
  /// Two letters.
  public var countryOrRegion: String?
  /// APPSTORE_SEARCH_RESULTS, APPSTORE_SEARCH_TAB, APPSTORE_TODAY_TAB, APPSTORE_PRODUCT_PAGES or a newer value.
  public var supplyPlacement: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

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
    other: JSONObject = JSONObject()
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
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "attribution":
        if let value = OpenValue.bool(member.value) {
          attribution = value
          continue
        }
      case "orgId":
        if let value = OpenValue.int64(member.value) {
          orgId = value
          continue
        }
      case "campaignId":
        if let value = OpenValue.int64(member.value) {
          campaignId = value
          continue
        }
      case "adGroupId":
        if let value = OpenValue.int64(member.value) {
          adGroupId = value
          continue
        }
      case "keywordId":
        if let value = OpenValue.int64(member.value) {
          keywordId = value
          continue
        }
      case "adId":
        if let value = OpenValue.int64(member.value) {
          adId = value
          continue
        }
      case "creativeSetId":
        if let value = OpenValue.int64(member.value) {
          creativeSetId = value
          continue
        }
      case "conversionType":
        if let value = OpenValue.string(member.value) {
          conversionType = value
          continue
        }
      case "claimType":
        if let value = OpenValue.string(member.value) {
          claimType = value
          continue
        }
      case "clickDate":
        if let value = OpenValue.string(member.value) {
          clickDate = value
          continue
        }
      case "impressionDate":
        if let value = OpenValue.string(member.value) {
          impressionDate = value
          continue
        }
      case "countryOrRegion":
        if let value = OpenValue.string(member.value) {
          countryOrRegion = value
          continue
        }
      case "supplyPlacement":
        if let value = OpenValue.string(member.value) {
          supplyPlacement = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "attribution", attribution.map { .bool($0) })
    object.append(new: "orgId", orgId.map { .integer($0) })
    object.append(new: "campaignId", campaignId.map { .integer($0) })
    object.append(new: "adGroupId", adGroupId.map { .integer($0) })
    object.append(new: "keywordId", keywordId.map { .integer($0) })
    object.append(new: "adId", adId.map { .integer($0) })
    object.append(new: "creativeSetId", creativeSetId.map { .integer($0) })
    object.append(new: "conversionType", conversionType.map { .string($0) })
    object.append(new: "claimType", claimType.map { .string($0) })
    object.append(new: "clickDate", clickDate.map { .string($0) })
    object.append(new: "impressionDate", impressionDate.map { .string($0) })
    object.append(new: "countryOrRegion", countryOrRegion.map { .string($0) })
    object.append(new: "supplyPlacement", supplyPlacement.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
