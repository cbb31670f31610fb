import AttributionProtocol

/// When a client sends the same call again (`rpc-protocol.md` section 11). Pure: randomness and time are handed in.
struct RPCRetryRule: Sendable {
  var maxAttempts = 4
  var base: Duration = .milliseconds(100)
  var cap: Duration = .seconds(10)

  /// How long to wait before the next attempt; nil when there is none. `attempt` counts from 1; `random` is from 0 to 1.
  func delay(after error: RPCError, attempt: Int, remaining: Duration, random: Double) -> Duration? {
    guard attempt < maxAttempts else { return nil }
    switch error.code {
    case .unavailable, .aborted: break
    // Quota and size limits look alike; only the first says when it is over.
    case .resourceExhausted where error.retryDelay != nil: break
    default: return nil
    }
    let widest = min(cap, base * (1 << min(attempt - 1, 16)))
    let delay = max(widest * random, error.retryDelay ?? .zero)
    // A wait that outlives the caller only delays the bad news.
    return delay < remaining ? delay : nil
  }
}
