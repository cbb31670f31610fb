/// How fast an endpoint may be asked for an app, so that no hour has more requests than Apple allows (Identifying rate limits).
///
/// Apple states rates by the second and counts by the hour. So a tenth of an hour's requests may be used at once, and the rest comes at
/// nine tenths of the rate: after a rest a recovery is as fast as it can be, and still no hour has too many.
public struct AppStoreRateBudget: Sendable, Hashable {
  /// The sandbox has a tenth of production's rates.
  public static let sandboxShare = 0.1
  /// The part of an hour's requests that may be used at once.
  static let burstShare = 0.1

  /// Requests that may be sent at once.
  public let burst: Int
  /// Requests a second beyond these.
  public let perSecond: Double

  /// `rate` is in production, a second and app; nil for Apple's published one.
  public init(_ endpoint: AppStoreServerEndpoint, server: AppStoreServer, rate: Double? = nil) {
    let hour = (rate ?? endpoint.requestsPerSecond) * (server == .production ? 1 : Self.sandboxShare) * 3600
    burst = max(1, Int(hour * Self.burstShare))
    perSecond = max((hour - Double(burst)) / 3600, 1e-6)
  }
}
