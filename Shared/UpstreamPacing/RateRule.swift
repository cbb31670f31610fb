/// A rate limit: a steady rate, and the greatest burst, which is available when nothing was used for a while.
public struct RateRule: Sendable, Hashable {
  /// The highest rate, in units per second. At higher rates the rounding of ``interval`` would change the rate too much.
  public static let maxRate = 100_000.0
  /// The lowest rate, in units per second: one unit in about eleven days.
  static let minRate = 1e-6
  /// The greatest burst, in units.
  public static let maxBurst = 1_000_000

  /// The microseconds between two units at the steady rate. They are rounded up, so that the limit is never faster than the given rate.
  public let interval: Int64
  /// The greatest number of units that can be used at once.
  public let burst: Int

  /// Nil if the rate or the burst is out of range.
  ///
  /// - Parameters:
  ///   - rate: units per second, from 0.000001 to ``maxRate``.
  ///   - burst: units, from 1 to ``maxBurst``.
  public init?(perSecond rate: Double, burst: Int) {
    guard rate >= Self.minRate, rate <= Self.maxRate, (1...Self.maxBurst).contains(burst) else { return nil }
    interval = Int64((1_000_000 / rate).rounded(.up))
    self.burst = burst
  }

  /// The microseconds in which an empty bucket becomes full.
  var tolerance: Int64 { interval * Int64(burst) }
}
