/// Whether and when a request is sent again. Pure: time and chance are handed in.
///
/// Apple asks for a retry after some codes without saying when; the steps are ours.
public struct AppStoreServerRetryRule: Sendable, Hashable {
  /// Tries in all after an error that Apple calls passing.
  public var attempts = 6
  /// Tries in all of a read after Apple's or the network's fault.
  public var serverAttempts = 3
  /// The first step, milliseconds; doubled each time.
  public var base: Int64 = 1000
  /// The widest step, milliseconds.
  public var cap: Int64 = 60_000

  public init() {}

  /// How long to wait, or nil to give up. `attempt` counts from 1; `random` is from 0 to 1; times in milliseconds.
  public func delay(
    after error: AppStoreServerAPIError, endpoint: AppStoreServerEndpoint, attempt: Int, now: Int64, random: Double
  ) -> Int64? {
    switch error.classification {
    case .retry:
      // Apple's "try again" may also come of a change that was made: where that is refused the second time, it is looked up first.
      guard endpoint.isRepeatable || !error.isOutcomeUnknown else { return nil }
      return attempt < attempts ? jitter(attempt, random) : nil
    case .server:
      // A change whose outcome is unknown is looked up, never blindly repeated.
      return endpoint.isRead && attempt < serverAttempts ? jitter(attempt, random) : nil
    case .rate:
      let wait = max(0, (error.retryAt ?? now + RetryAfterRule.otherwise) - now)
      // Those who wait for the same moment must not all come at once.
      return wait + Int64(random * 1000)
    case .tryOtherEnvironment, .credentials, .configuration, .permanent: return nil
    }
  }

  private func jitter(_ attempt: Int, _ random: Double) -> Int64 {
    Int64(Double(min(cap, base << Int64(min(attempt - 1, 20)))) * random)
  }
}
