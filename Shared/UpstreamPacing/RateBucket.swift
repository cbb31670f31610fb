/// The state of one rate limit, by the generic cell rate algorithm: the time at which the bucket is full again.
///
/// Pure: times are microseconds of one clock and passed in. The script `reserve` does the same in Redis, step by step; tests hold the
/// two together.
public struct RateBucket: Sendable, Hashable {
  /// What became of a reservation.
  public enum Grant: Sendable, Hashable {
    /// So many units are the caller's, to be used when so many microseconds have passed.
    case granted(units: Int, wait: Int64)
    /// Nothing was reserved: the fewest that were asked for would have to be waited for this long, microseconds.
    case refused(wait: Int64)
  }

  /// When the bucket is full again.
  private var fullAt: Int64 = .min
  /// Nothing is granted for a time before this.
  private var heldUntil: Int64 = .min

  public init() {}

  /// Reserves as many units of the range as can be had within the longest wait.
  ///
  /// In any span of time no more is granted for use within it than the burst and what the rate gives in it.
  public mutating func reserve(_ units: ClosedRange<Int>, rule: RateRule, longestWait: Int64 = 0, now: Int64) -> Grant {
    let least = Int64(max(units.lowerBound, 1))
    let most = Int64(max(units.upperBound, 1))
    let base = max(fullAt, now, heldUntil)
    let latest = now + max(longestWait, 0)
    let available = heldUntil > latest ? 0 : max(0, (latest + rule.tolerance - base) / rule.interval)
    let taken = min(most, max(available, least))
    let full = base + rule.interval * taken
    let wait = max(full - rule.tolerance, heldUntil, now) - now
    guard available >= least else { return .refused(wait: wait) }
    fullAt = full
    return .granted(units: Int(taken), wait: wait)
  }

  /// Grants nothing for a time before `until`, as a server asks by `Retry-After`; a longer hold stays.
  public mutating func hold(until: Int64) { heldUntil = max(heldUntil, until) }
}
