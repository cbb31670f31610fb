/// The configured names for the ids of Apple Ads. Apple's records contain only ids.
public struct CampaignNames: Sendable, Hashable {
  public var organizations: [Int64: String]
  public var campaigns: [Int64: String]
  public var adGroups: [Int64: String]
  public var keywords: [Int64: String]
  public var ads: [Int64: String]

  public init(
    organizations: [Int64: String] = [:], campaigns: [Int64: String] = [:], adGroups: [Int64: String] = [:],
    keywords: [Int64: String] = [:], ads: [Int64: String] = [:]
  ) {
    self.organizations = organizations
    self.campaigns = campaigns
    self.adGroups = adGroups
    self.keywords = keywords
    self.ads = ads
  }

  /// The configured names of a record's ids. The parts are `organization`, `campaign`, `adGroup`, `keyword` and `ad`. A test record and a
  /// record without an ad have no names.
  public func names(of record: AttributionRecord) -> [(part: String, name: String)] {
    guard record.attribution, !record.isTest else { return [] }
    let parts: [(String, Int64?, [Int64: String])] = [
      ("organization", record.orgId, organizations), ("campaign", record.campaignId, campaigns),
      ("adGroup", record.adGroupId, adGroups), ("keyword", record.keywordId, keywords), ("ad", record.adId, ads),
    ]
    return parts.compactMap { part, id, names in id.flatMap { names[$0] }.map { (part, $0) } }
  }
}
