/// Our limit for the requests of one app to one endpoint. It keeps the requests of every hour within Apple's limit.
///
/// Apple states its limits per second but counts per hour. So a tenth of an hour's requests may be sent at once, and further ones at nine
/// tenths of Apple's rate. A recovery after a quiet time is therefore fast at first.
public struct AppStoreRateBudget: Sendable, Hashable {
  /// The sandbox's limits as a share of production's.
  public static let sandboxShare = 0.1
  /// The share of an hour's requests that may be sent at once.
  static let burstShare = 0.1

  /// The number of requests that may be sent at once.
  public let burst: Int
  /// The rate at which further requests become possible, requests per second.
  public let perSecond: Double

  /// - Parameter rate: requests per second and app in production; nil for Apple's published limit.
  public init(_ endpoint: AppStoreServerEndpoint, server: AppStoreServer, rate: Double? = nil) {
    let hour = (rate ?? endpoint.requestsPerSecond) * (server == .production ? 1 : Self.sandboxShare) * 3600
    burst = max(1, Int(hour * Self.burstShare))
    perSecond = max((hour - Double(burst)) / 3600, 1e-6)
  }
}
