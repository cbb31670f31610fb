/// Says when Apple may be asked: a limit of rate for each endpoint and app, and a breaker for a server that mostly fails.
public protocol AppStoreServerPacing: Sendable {
  /// Returns when one request may be sent, and what to tell its result to. Nothing is waited for beyond the deadline.
  ///
  /// Throws `rate` with the moment at which the request would be allowed, or `server` while Apple mostly fails.
  func permit(
    _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerPermit
}

/// Leave for one request.
public struct AppStoreServerPermit: Sendable {
  /// What became of the request, as far as it says something about the server.
  public enum Result: Sendable, Hashable {
    /// Apple answered, whatever it said.
    case answered
    /// Apple's fault, or none reached it.
    case failed
    /// 429: the endpoint rests for this app until that moment, milliseconds since 1970.
    case limited(until: Int64)
    /// Given up before Apple could answer.
    case abandoned
  }

  private let report: @Sendable (Result) async -> Void

  public init(report: @escaping @Sendable (Result) async -> Void) { self.report = report }

  /// Tells the result; to be called once.
  public func end(_ result: Result) async { await report(result) }
}
