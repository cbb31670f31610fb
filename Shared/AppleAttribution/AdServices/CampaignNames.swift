/// The deployment's names for the ids of Apple Ads, because records have only ids.
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

  /// The names of a record's ids, as far as they are configured: `organization`, `campaign`, `adGroup`, `keyword`, `ad`. A test record has
  /// none.
  public func names(of record: AttributionRecord) -> [(part: String, name: String)] {
    guard record.attribution, !record.isTest else { return [] }
    let parts: [(String, Int64?, [Int64: String])] = [
      ("organization", record.orgId, organizations), ("campaign", record.campaignId, campaigns),
      ("adGroup", record.adGroupId, adGroups), ("keyword", record.keywordId, keywords), ("ad", record.adId, ads),
    ]
    return parts.compactMap { part, id, names in id.flatMap { names[$0] }.map { (part, $0) } }
  }
}
