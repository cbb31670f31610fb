/// The waits between the attempts of a message: exponential, with full jitter and a cap.
public struct Backoff: Sendable, Hashable {
  /// The average of the first wait, which doubles each time. A wait is random, from zero to twice the average.
  public var base: Duration
  /// The longest wait.
  public var cap: Duration

  public init(base: Duration, cap: Duration) {
    self.base = base
    self.cap = cap
  }

  /// The wait after an attempt, counted from 1. The exponent is limited, so that the product cannot overflow.
  public func wait(after attempt: Int) -> Duration { min(cap, base * (1 << min(attempt, 20))) * Double.random(in: 0...1) }
}
