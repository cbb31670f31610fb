/// The rules of a gap's look-up: when it begins, and what to do about Apple's errors. Pure: times and random numbers are passed in. `GapWork` asks
/// Apple, for times before the retention of notifications for the transaction history.
public enum GapLookUpRule {
  public enum Reaction: Sendable, Hashable {
    /// Retry after that many milliseconds.
    case wait(Int64)
    /// Apple would return the same error again.
    case unrecoverable(reason: String)
  }

  /// The wait while an operator has to act, milliseconds.
  public static let operatorPause: Int64 = 900_000
  /// The longest wait while Apple fails, milliseconds.
  static let widestStep: Int64 = 600_000
  /// The time after an outage by which Apple's first retries have been made, milliseconds.
  static let afterOutage: Int64 = 3_600_000
  /// The interval between checks during an outage, milliseconds.
  static let whileOutage: Int64 = 60_000

  /// The reaction to an error other than an unknown purchase. `attempt` counts from 1; `random` is from 0 to 1.
  public static func reaction(to error: AppStoreServerAPIError, attempt: Int, now: Int64, random: Double) -> Reaction {
    switch error.classification {
    case .rate: return .wait(max(1000, (error.retryAt ?? now + RetryAfterRule.otherwise) - now))
    case .retry, .server: return .wait(step(attempt: attempt, random: random))
    case .credentials, .configuration: return .wait(operatorPause)
    case .tryOtherEnvironment, .permanent:
      // Without Apple's error code, a proxy between us and Apple may have answered.
      guard let code = error.errorCode else { return .wait(operatorPause) }
      return .unrecoverable(reason: "Apple refuses the question with \(code): \(error.message)")
    }
  }

  /// A random wait between half a step and a whole one, milliseconds; steps double from two seconds.
  public static func step(attempt: Int, random: Double) -> Int64 {
    Int64(Double(min(widestStep, 1000 << Int64(min(max(attempt, 0), 16)))) * (0.5 + random / 2))
  }

  /// How long to leave a gap to Apple's retries because the missing notification may have been sent during an outage of ours, milliseconds;
  /// nil if it can be looked up.
  ///
  /// - Parameters:
  ///   - outages: the outages that have ended.
  ///   - goesOnSince: the last heartbeat before an ongoing outage; all times in milliseconds since 1970.
  ///   - scale: the factor by which Apple's retry schedule runs faster, for tests.
  public static func patience(
    for gap: SubscriptionGap, outages: [TimeWindow], goesOnSince: Int64?, now: Int64, scale: Double = 1
  ) -> Int64? {
    // The missing notification was made between the last step and the one that shows the gap; for silence, at any time until now.
    let first = gap.after ?? .min
    let last = gap.shownBy.isEmpty ? max(now, gap.before) : gap.before
    var wait: Int64?
    if let goesOnSince, last >= goesOnSince { wait = Int64(Double(whileOutage) / scale) }
    for outage in outages where outage.start <= last && first <= outage.end {
      let left = outage.end + Int64(Double(afterOutage) / scale) - now
      if left > 0 { wait = max(wait ?? 0, left) }
    }
    return wait
  }
}
