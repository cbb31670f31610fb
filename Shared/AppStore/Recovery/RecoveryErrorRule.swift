/// How long a recovery waits after an error of Apple's before it asks again, and when it is given up. Pure: time and chance are handed in.
public enum RecoveryErrorRule {
  /// Failures in a row after which a recovery that a caller or the schedule wants is given up: with the widest step about half an hour.
  public static let mostFailures = 60
  /// The same where an operator has to act: half an hour as well.
  public static let mostRefusals = 6
  /// The widest step while Apple fails, milliseconds.
  public static let widestStep: Int64 = 60_000
  /// How long is waited while an operator has to act, milliseconds.
  public static let operatorPause: Int64 = 300_000

  /// How long to wait, milliseconds; nil to give up. `failures` are those in a row, this one included; `now` in milliseconds since 1970,
  /// `random` from 0 to 1.
  ///
  /// An outage is recovered once, however long that takes. What a schedule wants its next turn wants too, and a caller wants to know.
  public static func pause(
    after error: AppStoreServerAPIError, origin: RecoveryOrigin, failures: Int, now: Int64, random: Double
  ) -> Int64? {
    switch error.classification {
    case .rate:
      // Those who wait for the same moment must not all come at once.
      return max(0, (error.retryAt ?? now + RetryAfterRule.otherwise) - now) + Int64(random * 1000)
    case .retry, .server:
      guard origin == .outage || failures < mostFailures else { return nil }
      return Int64(Double(min(widestStep, 500 << Int64(min(max(failures, 0), 16)))) * random)
    case .credentials, .configuration:
      switch origin {
      case .request: return nil
      case .schedule: return failures < mostRefusals ? operatorPause : nil
      case .outage: return operatorPause
      }
    case .tryOtherEnvironment, .permanent:
      // Without Apple's number something between us and Apple may have answered.
      return origin == .outage && error.errorCode == nil ? operatorPause : nil
    }
  }
}
