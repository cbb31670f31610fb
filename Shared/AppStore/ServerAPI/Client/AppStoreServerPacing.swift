/// Decides when Apple may be called, by a rate limit for each endpoint and app, and a circuit breaker for each server.
public protocol AppStoreServerPacing: Sendable {
  /// Waits until one request may be sent, but not beyond the deadline. Returns the permit that takes its result.
  ///
  /// Throws `rate` with the time at which the request would be allowed, or `server` while Apple mostly fails.
  func permit(
    _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerPermit
}

/// Permission for one request.
public struct AppStoreServerPermit: Sendable {
  /// The result of the request, as far as it says something about the server.
  public enum Result: Sendable, Hashable {
    /// Apple answered.
    case answered
    /// A server error, or Apple was not reached.
    case failed
    /// Apple answered 429: the app must not call the endpoint until that time, milliseconds since 1970.
    case limited(until: Int64)
    /// The request was given up before Apple could answer.
    case abandoned
  }

  private let report: @Sendable (Result) async -> Void

  public init(report: @escaping @Sendable (Result) async -> Void) { self.report = report }

  /// Reports the result. It must be called once.
  public func end(_ result: Result) async { await report(result) }
}
