/// Decides whether and when a request is retried. Pure: times and random numbers are passed in.
///
/// Apple asks for a retry after some error codes without a time; the waits are ours.
public struct AppStoreServerRetryRule: Sendable, Hashable {
  /// The number of attempts in all after an error for which Apple asks for a retry.
  public var attempts = 6
  /// The number of attempts in all of a read after a failure of Apple or the network.
  public var serverAttempts = 3
  /// The first wait, milliseconds, which doubles each time.
  public var base: Int64 = 1000
  /// The longest wait, milliseconds.
  public var cap: Int64 = 60_000

  public init() {}

  /// The wait before the next attempt; nil to give up. `attempt` counts from 1; `random` is from 0 to 1; times are milliseconds.
  public func delay(
    after error: AppStoreServerAPIError, endpoint: AppStoreServerEndpoint, attempt: Int, now: Int64, random: Double
  ) -> Int64? {
    switch error.classification {
    case .retry:
      // Apple may ask for a retry of a change that was made. If a repetition would be refused, the outcome is looked up first.
      guard endpoint.isRepeatable || !error.isOutcomeUnknown else { return nil }
      return attempt < attempts ? jitter(attempt, random) : nil
    case .server:
      // A change with an unknown outcome is looked up and not simply repeated.
      return endpoint.isRead && attempt < serverAttempts ? jitter(attempt, random) : nil
    case .rate:
      let wait = max(0, (error.retryAt ?? now + RetryAfterRule.otherwise) - now)
      // Jitter, because many may wait for the same time.
      return wait + Int64(random * 1000)
    case .tryOtherEnvironment, .credentials, .configuration, .permanent: return nil
    }
  }

  private func jitter(_ attempt: Int, _ random: Double) -> Int64 {
    Int64(Double(min(cap, base << Int64(min(attempt - 1, 20)))) * random)
  }
}
