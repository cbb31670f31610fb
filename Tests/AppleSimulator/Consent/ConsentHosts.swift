/// The hosts that receive sessions: `analytics.` and `consent.` in each domain of the published URL strategies
/// (Shared/AppleAttribution/TrackingTransparency/ConsentRouting.swift).
public enum ConsentHosts {
  static let domains = [
    "adjust.com", "eu.adjust.com", "tr.adjust.com", "us.adjust.com", "adjust.world", "adjust.cn", "adjust.net.in",
    "adjust.io",
  ]

  public static let all = domains.flatMap { ["analytics." + $0, "consent." + $0] }
}
