/// A rate limit: requests per second on average, and the burst after idle time.
public struct RequestRate: Sendable, Hashable {
  public let perSecond: Double
  public let burst: Int

  public init(perSecond: Double, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }
}

/// A token bucket. It has no clock: times are nanoseconds of a monotonic clock.
struct RequestBucket: Sendable, Hashable {
  private(set) var left: Double
  private var at: Int64

  init(full rate: RequestRate, now: Int64) {
    left = Double(rate.burst)
    at = now
  }

  /// Takes a token. Returns nil if the request is allowed, otherwise the time until the next token.
  mutating func take(_ rate: RequestRate, now: Int64) -> Duration? {
    refill(rate, now: now)
    // A small tolerance, so that rounding errors do not refuse the last request of a burst.
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
