/// Exponential backoff with jitter.
struct RetrySchedule: Sendable, Hashable {
  /// The wait after the first failure, milliseconds.
  let base: Int64
  /// The longest wait, milliseconds.
  let cap: Int64

  /// The wait after that many failures, milliseconds: at random between half and all of an amount that doubles each time.
  ///
  /// - Parameter random: 0 to 1.
  func wait(after failures: Int, random: Double) -> Int64 {
    let whole = min(Double(cap), Double(base) * Double(UInt64(1) << UInt64(min(max(failures, 1) - 1, 40))))
    return Int64(whole * (0.5 + 0.5 * random))
  }
}
