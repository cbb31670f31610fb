import AttributionProtocol

/// Decides when a client retries a call: after `unavailable`, `aborted`, and `resource_exhausted` with a retry delay. The waits grow
/// exponentially with full jitter and are never shorter than the server's delay. Pure: times and random numbers are passed in.
struct RPCRetryRule: Sendable {
  var maxAttempts = 4
  var base: Duration = .milliseconds(100)
  var cap: Duration = .seconds(10)

  /// The wait before the next attempt; nil if there is none. `attempt` counts from 1; `random` is from 0 to 1.
  func delay(after error: RPCError, attempt: Int, remaining: Duration, random: Double) -> Duration? {
    guard attempt < maxAttempts else { return nil }
    switch error.code {
    case .unavailable, .aborted: break
    // The code stands for rate limits and size limits; only a rate limit has a retry delay.
    case .resourceExhausted where error.retryDelay != nil: break
    default: return nil
    }
    let widest = min(cap, base * (1 << min(attempt - 1, 16)))
    let delay = max(widest * random, error.retryDelay ?? .zero)
    // A wait beyond the caller's time would only delay the error.
    return delay < remaining ? delay : nil
  }
}
