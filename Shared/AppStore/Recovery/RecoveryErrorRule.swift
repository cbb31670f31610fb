/// The rule for errors of Apple's during a recovery: how long to wait, and when to give up. Pure: times and random numbers are passed in.
public enum RecoveryErrorRule {
  /// The number of consecutive failures after which a recovery for a caller or the schedule is given up: about half an hour, because most
  /// waits are half of ``widestStep`` on average.
  static let maxFailures = 60
  /// The same if an operator has to act: about half an hour of waits of ``operatorPause``.
  static let maxRefusals = 6
  /// The longest wait while Apple fails, milliseconds.
  static let widestStep: Int64 = 60_000
  /// The wait while an operator has to act, milliseconds.
  public static let operatorPause: Int64 = 300_000
  /// The wait in the recovery of an outage if the app's configuration is the cause, milliseconds: an app that was never released may be
  /// refused for months.
  static let configurationPause: Int64 = 3_600_000

  /// How long to wait, milliseconds; nil to give up. `failures`: the number of consecutive failures including this one; `now` in
  /// milliseconds since 1970, `random` from 0 to 1.
  ///
  /// The recovery of an outage is given up only if Apple refuses the request itself. A scheduled recovery is repeated at the next scheduled
  /// time anyway, and a caller must get an answer.
  public static func pause(
    after error: AppStoreServerAPIError, origin: RecoveryOrigin, failures: Int, now: Int64, random: Double
  ) -> Int64? {
    switch error.classification {
    case .rate:
      // Jitter, because many may wait for the same time.
      return max(0, (error.retryAt ?? now + RetryAfterRule.otherwise) - now) + Int64(random * 1000)
    case .retry, .server:
      guard origin == .outage || failures < maxFailures else { return nil }
      return Int64(Double(min(widestStep, 500 << Int64(min(max(failures, 0), 16)))) * random)
    case .credentials, .configuration:
      switch origin {
      case .request: return nil
      case .schedule: return failures < maxRefusals ? operatorPause : nil
      case .outage: return error.classification == .configuration ? configurationPause : operatorPause
      }
    case .tryOtherEnvironment, .permanent:
      // Without Apple's error code, a proxy between us and Apple may have answered.
      return origin == .outage && error.errorCode == nil ? operatorPause : nil
    }
  }
}
