/// The hosts of every URL strategy, and the default strategy's second domain.
public enum ConsentHosts {
  static let domains = [
    "adjust.com", "eu.adjust.com", "tr.adjust.com", "us.adjust.com", "adjust.world", "adjust.cn", "adjust.net.in",
    "adjust.io",
  ]

  public static let all = domains.flatMap { ["analytics." + $0, "consent." + $0] }
}
