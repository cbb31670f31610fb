/// What becomes of a gap's look-up: when it begins, and what is done about an error of Apple's. Pure: time and chance are handed in.
public enum GapLookUpRule {
  public enum Reaction: Sendable, Hashable {
    /// Ask again after so many milliseconds.
    case wait(Int64)
    /// Apple will say the same again, for that reason.
    case unrecoverable(reason: String)
  }

  /// How long is waited while an operator has to act, milliseconds.
  public static let operatorPause: Int64 = 900_000
  /// The widest step while Apple fails, milliseconds.
  static let widestStep: Int64 = 600_000
  /// How long after an outage Apple's own first retries have had their turn, milliseconds.
  public static let afterOutage: Int64 = 3_600_000
  /// How often it is looked whether an outage goes on, milliseconds.
  static let whileOutage: Int64 = 60_000

  /// After an error that is not that Apple knows no such purchase. `attempt` counts from 1; `random` is from 0 to 1.
  public static func reaction(to error: AppStoreServerAPIError, attempt: Int, now: Int64, random: Double) -> Reaction {
    switch error.classification {
    case .rate: return .wait(max(1000, (error.retryAt ?? now + RetryAfterRule.otherwise) - now))
    case .retry, .server: return .wait(step(attempt: attempt, random: random))
    case .credentials, .configuration: return .wait(operatorPause)
    case .tryOtherEnvironment, .permanent:
      // Without Apple's number something between us and Apple may have answered.
      guard let code = error.errorCode else { return .wait(operatorPause) }
      return .unrecoverable(reason: "Apple refuses the question with \(code): \(error.message)")
    }
  }

  /// Between half of a step and all of it, milliseconds; steps double from two seconds.
  public static func step(attempt: Int, random: Double) -> Int64 {
    Int64(Double(min(widestStep, 1000 << Int64(min(max(attempt, 0), 16)))) * (0.5 + random / 2))
  }

  /// How long a gap is left to Apple's retries because what is missing may have been sent during an outage of ours, milliseconds;
  /// nil when it can be looked up.
  ///
  /// - Parameters:
  ///   - outages: those that are over.
  ///   - goesOnSince: the last sign of life where there is an outage now; all times in milliseconds since 1970.
  ///   - scale: for tests: how many times faster Apple's retry schedule runs.
  public static func patience(
    for gap: SubscriptionGap, outages: [TimeWindow], goesOnSince: Int64?, now: Int64, scale: Double = 1
  ) -> Int64? {
    // What is missing was made between the step before and the one that shows it; in a silence, any time until now.
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
