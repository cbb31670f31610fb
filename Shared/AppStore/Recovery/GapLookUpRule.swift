/// Decides when the look-up of a gap begins, and what to do about Apple's errors. Pure: times and random numbers are passed in.
///
/// The look-up itself is `GapWork` in notification-recovery. It requests the missing notifications from Apple's history, and for times
/// before the start of that history (``NotificationRetention``) the customer's transactions.
public enum GapLookUpRule {
  /// What to do after an error of Apple's.
  public enum Reaction: Sendable, Hashable {
    /// Retry after that many milliseconds.
    case wait(Int64)
    /// Give up, because Apple would return the same error again.
    case unrecoverable(reason: String)
  }

  /// The wait after an error that only an operator can end, such as a wrong key, milliseconds.
  public static let operatorPause: Int64 = 900_000
  /// The longest wait between retries while Apple or the network fails, milliseconds.
  static let maxStep: Int64 = 600_000
  /// How long a gap is left to Apple's retries after an outage, milliseconds. Apple's first retry comes an hour after the failed delivery
  /// (``NotificationRetrySchedule``).
  static let waitAfterOutage: Int64 = 3_600_000
  /// The interval between checks during an outage, milliseconds.
  static let checkIntervalInOutage: Int64 = 60_000

  /// The reaction to an error. `GapWork` handles the error for an unknown purchase itself (``AppStoreServerAPIError/isUnknownPurchase``).
  ///
  /// - Parameters:
  ///   - attempt: counts from 1.
  ///   - random: from 0 to 1.
  public static func reaction(to error: AppStoreServerAPIError, attempt: Int, now: Int64, random: Double) -> Reaction {
    switch error.classification {
    case .rate: return .wait(max(1000, (error.retryAt ?? now + RetryAfterRule.defaultWait) - now))
    case .retry, .server: return .wait(step(attempt: attempt, random: random))
    case .credentials, .configuration: return .wait(operatorPause)
    case .tryOtherEnvironment, .permanent:
      // A response without Apple's error code may be that of a proxy between us and Apple.
      guard let code = error.errorCode else { return .wait(operatorPause) }
      return .unrecoverable(reason: "Apple refuses the look-up with error \(code): \(error.message)")
    }
  }

  /// The wait before the next attempt, milliseconds: a random time between half a step and a whole one. The step is two seconds after the
  /// first attempt and doubles with each further one, up to ``maxStep``.
  public static func step(attempt: Int, random: Double) -> Int64 {
    Int64(Double(min(maxStep, 1000 << Int64(min(max(attempt, 0), 16)))) * (0.5 + random / 2))
  }

  /// How long to leave a gap to Apple's own retries, milliseconds, because Apple may have sent the missing notification during an outage of
  /// ours. Nil if the gap can be looked up now.
  ///
  /// - Parameters:
  ///   - outages: the outages that have ended.
  ///   - ongoingSince: the last heartbeat before an ongoing outage, milliseconds since 1970; nil without one.
  ///   - scale: the factor by which Apple's retry schedule runs faster, in development.
  public static func waitForRetries(
    of gap: SubscriptionGap, outages: [TimeWindow], ongoingSince: Int64?, now: Int64, scale: Double = 1
  ) -> Int64? {
    // Apple made the missing notification between the last step and the step that shows the gap; for silence, at any time until now.
    let first = gap.after ?? .min
    let last = gap.shownBy.isEmpty ? max(now, gap.before) : gap.before
    var wait: Int64?
    if let ongoingSince, last >= ongoingSince { wait = Int64(Double(checkIntervalInOutage) / scale) }
    for outage in outages where outage.start <= last && first <= outage.end {
      let remaining = outage.end + Int64(Double(waitAfterOutage) / scale) - now
      if remaining > 0 { wait = max(wait ?? 0, remaining) }
    }
    return wait
  }
}
