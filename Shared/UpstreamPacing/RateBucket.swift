/// The state of one rate limit, by the generic cell rate algorithm: the time at which the bucket is full again.
///
/// Pure: times are microseconds of one clock and passed in. The script `reserve` does the same in Redis; tests compare the two.
struct RateBucket: Sendable, Hashable {
  /// The result of a reservation.
  enum Grant: Sendable, Hashable {
    /// The caller has that many units and may use them after `wait` microseconds.
    case granted(units: Int, wait: Int64)
    /// Nothing was reserved: the least number of units would be available only after `wait` microseconds.
    case refused(wait: Int64)
  }

  /// The time at which the bucket is full again.
  private var fullAt: Int64 = .min
  /// No unit may be used before this time.
  private var heldUntil: Int64 = .min

  init() {}

  /// Reserves as many units of the range as become available within the longest wait.
  ///
  /// In no span of time do the granted units exceed the burst plus what the rate gives in that span.
  mutating func reserve(_ units: ClosedRange<Int>, rule: RateRule, maxWait: Int64 = 0, now: Int64) -> Grant {
    let minUnits = Int64(max(units.lowerBound, 1))
    let maxUnits = Int64(max(units.upperBound, 1))
    let base = max(fullAt, now, heldUntil)
    let latest = now + max(maxWait, 0)
    let available = heldUntil > latest ? 0 : max(0, (latest + rule.tolerance - base) / rule.interval)
    let taken = min(maxUnits, max(available, minUnits))
    let full = base + rule.interval * taken
    let wait = max(full - rule.tolerance, heldUntil, now) - now
    guard available >= minUnits else { return .refused(wait: wait) }
    fullAt = full
    return .granted(units: Int(taken), wait: wait)
  }

  /// Grants no unit for use before `until`, as a server asks by `Retry-After`. A longer hold stays.
  mutating func hold(until: Int64) { heldUntil = max(heldUntil, until) }
}
