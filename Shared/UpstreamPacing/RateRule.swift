/// A rate limit: a steady rate, and the greatest burst after a time of rest.
public struct RateRule: Sendable, Hashable {
  /// The highest rate that can be kept exactly, in units a second.
  public static let maxRate = 100_000.0
  /// The lowest rate, in units a second: one unit in about eleven days.
  static let minRate = 1e-6
  public static let maxBurst = 1_000_000

  /// Microseconds between two units of the steady rate, rounded up: never faster than the rate.
  public let interval: Int64
  /// The greatest number of units at once.
  public let burst: Int

  /// Nil if the rate or the burst cannot be kept exactly.
  ///
  /// - Parameters:
  ///   - rate: units a second.
  ///   - burst: units at once, at least 1.
  public init?(perSecond rate: Double, burst: Int) {
    guard rate >= Self.minRate, rate <= Self.maxRate, (1...Self.maxBurst).contains(burst) else { return nil }
    interval = Int64((1_000_000 / rate).rounded(.up))
    self.burst = burst
  }

  /// How far the time of the next unit may run ahead of the clock, microseconds.
  var tolerance: Int64 { interval * Int64(burst) }
}
