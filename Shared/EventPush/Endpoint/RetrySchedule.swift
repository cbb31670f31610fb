/// Exponential backoff with jitter.
struct RetrySchedule: Sendable, Hashable {
  /// The wait after the first failure, milliseconds.
  let base: Int64
  /// The longest wait, milliseconds.
  let cap: Int64

  /// The wait after a number of failures, milliseconds: between half and all of an amount that doubles with each failure, up to ``cap``.
  ///
  /// - Parameter random: 0 to 1.
  func wait(after failures: Int, random: Double) -> Int64 {
    // The shift is limited so that it cannot overflow; after 40 doublings any amount exceeds the cap.
    let whole = min(Double(cap), Double(base) * Double(UInt64(1) << UInt64(min(max(failures, 1) - 1, 40))))
    return Int64(whole * (0.5 + 0.5 * random))
  }
}
