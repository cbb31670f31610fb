/// Decides whether and when a request to Apple is retried. Pure: times and random numbers are passed in.
///
/// Apple asks for a retry after some error codes, but states no times. The waits are our choice.
public struct AppStoreServerRetryRule: Sendable, Hashable {
  /// The greatest number of attempts if Apple asks for a retry, including the first.
  public var attempts = 6
  /// The greatest number of attempts of a read if Apple or the network fails, including the first.
  public var serverAttempts = 3
  /// The upper limit of the first wait, milliseconds. It doubles with each attempt.
  public var base: Int64 = 1000
  /// The upper limit of all waits except those that Apple asks for, milliseconds.
  public var cap: Int64 = 60_000

  public init() {}

  /// The wait before the next attempt, milliseconds; nil to give up.
  ///
  /// - Parameters:
  ///   - attempt: the number of the attempt that failed, from 1.
  ///   - now: milliseconds since 1970.
  ///   - random: from 0 to 1.
  public func delay(
    after error: AppStoreServerAPIError, endpoint: AppStoreServerEndpoint, attempt: Int, now: Int64, random: Double
  ) -> Int64? {
    switch error.classification {
    case .retry:
      // Apple may ask for a retry although it has made the change. A change that must not be repeated is not retried then; the caller looks
      // up its outcome first.
      guard endpoint.isRepeatable || !error.isOutcomeUnknown else { return nil }
      return attempt < attempts ? jitter(attempt, random) : nil
    case .server:
      // A change whose outcome is unknown is not retried; the caller looks up its outcome first.
      return endpoint.isRead && attempt < serverAttempts ? jitter(attempt, random) : nil
    case .rate:
      let wait = max(0, (error.retryAt ?? now + RetryAfterRule.defaultWait) - now)
      // Up to a second of jitter, because many requests may wait until the same time.
      return wait + Int64(random * 1000)
    case .tryOtherEnvironment, .credentials, .configuration, .permanent: return nil
    }
  }

  private func jitter(_ attempt: Int, _ random: Double) -> Int64 {
    Int64(Double(min(cap, base << Int64(min(attempt - 1, 20)))) * random)
  }
}
