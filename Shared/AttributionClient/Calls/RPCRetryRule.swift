import AttributionProtocol

/// Decides when a client retries a call: after `unavailable`, `aborted`, and `resource_exhausted` with a retry delay. The longest wait
/// doubles with each attempt, the actual wait is a random part of it (full jitter), and it is never shorter than the server's retry delay.
struct RPCRetryRule: Sendable {
  var maxAttempts = 4
  var base: Duration = .milliseconds(100)
  var cap: Duration = .seconds(10)

  /// The wait before the next attempt; nil if there is no further attempt.
  ///
  /// - Parameters:
  ///   - attempt: the number of the failed attempt, from 1 on.
  ///   - remaining: the rest of the call's timeout.
  ///   - random: 0 to 1.
  func delay(after error: RPCError, attempt: Int, remaining: Duration, random: Double) -> Duration? {
    guard attempt < maxAttempts else { return nil }
    switch error.code {
    case .unavailable, .aborted: break
    // The code stands for rate limits and size limits; only a rate limit has a retry delay.
    case .resourceExhausted where error.retryDelay != nil: break
    default: return nil
    }
    let longest = min(cap, base * (1 << min(attempt - 1, 16)))
    let delay = max(longest * random, error.retryDelay ?? .zero)
    // A wait beyond the timeout would only delay the error.
    return delay < remaining ? delay : nil
  }
}
