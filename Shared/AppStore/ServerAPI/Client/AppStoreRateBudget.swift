/// The rate limit of an endpoint for an app, which keeps every hour within Apple's limit (Identifying rate limits).
///
/// Apple states rates per second and counts per hour. So a tenth of an hour's requests may be used at once, and the rest at nine tenths of
/// the rate: after a rest a recovery is as fast as possible, and no hour exceeds the limit.
public struct AppStoreRateBudget: Sendable, Hashable {
  /// The sandbox has a tenth of production's rates.
  public static let sandboxShare = 0.1
  /// The share of an hour's requests that may be used at once.
  static let burstShare = 0.1

  /// The number of requests that may be sent at once.
  public let burst: Int
  /// Further requests per second.
  public let perSecond: Double

  /// `rate`: requests per second and app in production; nil for Apple's published rate.
  public init(_ endpoint: AppStoreServerEndpoint, server: AppStoreServer, rate: Double? = nil) {
    let hour = (rate ?? endpoint.requestsPerSecond) * (server == .production ? 1 : Self.sandboxShare) * 3600
    burst = max(1, Int(hour * Self.burstShare))
    perSecond = max((hour - Double(burst)) / 3600, 1e-6)
  }
}
