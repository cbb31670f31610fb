/// The rate limit of requests to an endpoint: a token bucket whose capacity is the tokens of a twentieth of a second, so that requests are
/// spread over each second.
struct SendRate: Sendable {
  /// Requests a second; nil for no limit.
  let perSecond: Int?
  private var tokens: Double
  /// The time up to which tokens were added, milliseconds.
  private var filledAt: Int64

  init(perSecond: Int?, now: Int64) {
    self.perSecond = perSecond
    tokens = perSecond.map(Self.capacity) ?? 0
    filledAt = now
  }

  private static func capacity(_ perSecond: Int) -> Double { max(1, Double(perSecond) / 20) }

  /// Takes a token and returns nil. If there is none, returns the time at which there will be one, in milliseconds of the clock of `now`.
  mutating func take(now: Int64) -> Int64? {
    guard let perSecond else { return nil }
    if now > filledAt { tokens = min(Self.capacity(perSecond), tokens + Double(now - filledAt) * Double(perSecond) / 1000) }
    filledAt = now
    if tokens >= 1 {
      tokens -= 1
      return nil
    }
    return now + max(1, Int64(((1 - tokens) * 1000 / Double(perSecond)).rounded(.up)))
  }
}
