/// How many requests are let through: so many a second on average, and so many at once after a rest.
public struct RequestRate: Sendable, Hashable {
  public let perSecond: Double
  public let burst: Int

  public init(perSecond: Double, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }
}

/// What is left of a rate (a token bucket). Pure; times are nanoseconds of any one clock.
struct RequestBucket: Sendable, Hashable {
  private(set) var left: Double
  private var at: Int64

  init(full rate: RequestRate, now: Int64) {
    left = Double(rate.burst)
    at = now
  }

  /// Takes one request; nil when it is let through, or how long until the next one would be.
  mutating func take(_ rate: RequestRate, now: Int64) -> Duration? {
    refill(rate, now: now)
    // A hair is forgiven: what fractions lost must not keep the last one out.
    guard left < 1 - 1e-9 else {
      left = max(0, left - 1)
      return nil
    }
    return .nanoseconds(Int64(((1 - left) / rate.perSecond * 1e9).rounded(.up)))
  }

  mutating func refill(_ rate: RequestRate, now: Int64) {
    guard now > at else { return }
    left = min(Double(rate.burst), left + Double(now - at) / 1e9 * rate.perSecond)
    at = now
  }
}
