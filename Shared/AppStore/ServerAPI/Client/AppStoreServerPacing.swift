/// Decides when Apple may be called. The implementation in notification-recovery has a rate limit for each app, server and endpoint, and a
/// circuit breaker for each server (`ApplePacing`).
public protocol AppStoreServerPacing: Sendable {
  /// Waits until one request may be sent, but not beyond the deadline. Returns a permit, to which the request's result must be reported.
  ///
  /// Throws an error of the class `rate` with the time at which the request would be allowed, or of the class `server` while most requests
  /// to the server fail.
  func permit(
    _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerPermit
}

/// Permission for one request.
public struct AppStoreServerPermit: Sendable {
  /// What the result of the request says about the server.
  public enum Result: Sendable, Hashable {
    /// Apple responded, with a success or an error that is not its own failure.
    case answered
    /// Apple had a server error, or could not be reached.
    case failed
    /// Apple's status was 429: the app must not call the endpoint until that time, milliseconds since 1970.
    case limited(until: Int64)
    /// The request was given up before Apple could respond, which says nothing about the server.
    case abandoned
  }

  private let report: @Sendable (Result) async -> Void

  public init(report: @escaping @Sendable (Result) async -> Void) { self.report = report }

  /// Reports the result. This must be called exactly once.
  public func end(_ result: Result) async { await report(result) }
}
