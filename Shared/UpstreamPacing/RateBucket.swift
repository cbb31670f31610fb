/// The state of one rate limit by the generic cell rate algorithm, which stores only the time at which the bucket will be full again.
///
/// Times are passed in, in microseconds of one clock. The script `reserve.lua` does the same in Redis; tests compare the two.
struct RateBucket: Sendable, Hashable {
  /// The result of a reservation.
  enum Grant: Sendable, Hashable {
    /// The caller gets that many units, and may use them after `wait` microseconds.
    case granted(units: Int, wait: Int64)
    /// Nothing is reserved, because the least number of units would be available only after `wait` microseconds.
    case refused(wait: Int64)
  }

  /// The time at which the bucket will be full again if nothing more is reserved.
  private var fullAt: Int64 = .min
  /// No unit may be used before this time.
  private var heldUntil: Int64 = .min

  init() {}

  /// Reserves units: as many as are available within `maxWait` microseconds, at most the upper bound of the range. Refuses if these are
  /// fewer than the lower bound.
  ///
  /// With a `maxWait` of 0, the units granted in any span of time never exceed the burst plus what the rate gives in that span. With a
  /// longer `maxWait`, more units than the burst may be granted at once. The wait is then at least as long as the rate needs for the units
  /// beyond the burst.
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

  /// Grants no unit for use before `until`, for example because the server has sent `Retry-After`. An earlier call with a later time
  /// remains in effect.
  mutating func hold(until: Int64) { heldUntil = max(heldUntil, until) }
}
