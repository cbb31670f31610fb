/// A rate limit.
public struct RequestRate: Sendable, Hashable {
  /// The average number of requests per second that are allowed.
  public let perSecond: Double
  /// The number of requests that are allowed at once after a time without requests.
  public let burst: Int

  public init(perSecond: Double, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }
}

/// A token bucket: each request takes a token, and tokens are added at the rate of the limit, up to its burst. Times are nanoseconds of a
/// monotonic clock, such as ``RateClock``.
struct RequestBucket: Sendable, Hashable {
  /// A small tolerance, so that rounding errors do not refuse the last request of a burst.
  static let tolerance = 1e-9

  private(set) var tokens: Double
  /// When tokens were last added.
  private var refilledAt: Int64

  init(full rate: RequestRate, now: Int64) {
    tokens = Double(rate.burst)
    refilledAt = now
  }

  /// Takes a token. Returns nil if the request is allowed, otherwise the time until the next token.
  mutating func take(_ rate: RequestRate, now: Int64) -> Duration? {
    refill(rate, now: now)
    guard tokens < 1 - Self.tolerance else {
      tokens = max(0, tokens - 1)
      return nil
    }
    return .nanoseconds(Int64(((1 - tokens) / rate.perSecond * 1e9).rounded(.up)))
  }

  /// Adds the tokens of the time since the last call.
  mutating func refill(_ rate: RequestRate, now: Int64) {
    guard now > refilledAt else { return }
    tokens = min(Double(rate.burst), tokens + Double(now - refilledAt) / 1e9 * rate.perSecond)
    refilledAt = now
  }
}
