/// Decides what a recovery does after an error of Apple's: how long it waits, and when it gives up. Pure: times and random numbers are
/// passed in.
public enum RecoveryErrorRule {
  /// The number of consecutive failures after which a recovery for a caller or the schedule is given up. That takes about half an hour,
  /// because most waits are half of ``maxStep`` on average.
  static let maxFailures = 60
  /// The number of consecutive errors that only an operator can end, after which a scheduled recovery is given up: half an hour of waits of
  /// ``operatorPause``.
  static let maxRefusals = 6
  /// The longest wait between retries while Apple or the network fails, milliseconds.
  static let maxStep: Int64 = 60_000
  /// The wait after an error that only an operator can end, such as a wrong key, milliseconds.
  public static let operatorPause: Int64 = 300_000
  /// The same wait in the recovery of an outage if the app's setup at Apple is the cause, milliseconds. It is longer, because Apple may
  /// refuse an app that was never released for months.
  static let configurationPause: Int64 = 3_600_000

  /// How long to wait before the next attempt, milliseconds; nil to give up.
  ///
  /// The recovery of an outage is given up only if Apple refuses the request itself. A scheduled recovery is given up sooner, because the
  /// next one covers its window too; so is one for a caller, who must get an answer.
  ///
  /// - Parameters:
  ///   - failures: the number of consecutive failures including this one.
  ///   - now: milliseconds since 1970.
  ///   - random: from 0 to 1.
  public static func pause(
    after error: AppStoreServerAPIError, origin: RecoveryOrigin, failures: Int, now: Int64, random: Double
  ) -> Int64? {
    switch error.classification {
    case .rate:
      // Up to a second of jitter, because many requests may wait until the same time.
      return max(0, (error.retryAt ?? now + RetryAfterRule.defaultWait) - now) + Int64(random * 1000)
    case .retry, .server:
      guard origin == .outage || failures < maxFailures else { return nil }
      return Int64(Double(min(maxStep, 500 << Int64(min(max(failures, 0), 16)))) * random)
    case .credentials, .configuration:
      switch origin {
      case .request: return nil
      case .schedule: return failures < maxRefusals ? operatorPause : nil
      case .outage: return error.classification == .configuration ? configurationPause : operatorPause
      }
    case .tryOtherEnvironment, .permanent:
      // A response without Apple's error code may be that of a proxy between us and Apple.
      return origin == .outage && error.errorCode == nil ? operatorPause : nil
    }
  }
}
