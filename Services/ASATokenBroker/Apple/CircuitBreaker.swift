/// Stops asking a server that mostly fails, and lets one call through from time to time to see whether it is back.
///
/// Pure: times are milliseconds since 1970 and passed in.
struct CircuitBreaker: Sendable {
  /// How far back calls are looked at.
  static let window: Int64 = 20_000
  /// Fewer calls than this say nothing.
  static let leastCalls = 10
  /// How long it stays open at first; twice as long each time after that, up to ``longestPause``.
  static let firstPause: Int64 = 2000
  static let longestPause: Int64 = 60_000

  private var calls: [(at: Int64, failed: Bool)] = []
  private var openUntil: Int64?
  private var pause = Self.firstPause
  private var isProbing = false

  /// Nil when a call may be made; else how long to wait, milliseconds.
  mutating func admit(now: Int64) -> Int64? {
    guard let until = openUntil else { return nil }
    if now < until { return until - now }
    // One call finds out for all.
    guard !isProbing else { return 500 }
    isProbing = true
    return nil
  }

  mutating func record(failed: Bool, now: Int64) {
    if isProbing {
      isProbing = false
      calls = []
      if failed {
        pause = min(pause * 2, Self.longestPause)
        openUntil = now + pause
      } else {
        openUntil = nil
        pause = Self.firstPause
      }
      return
    }
    calls.removeAll { $0.at <= now - Self.window }
    calls.append((now, failed))
    guard openUntil == nil, calls.count >= Self.leastCalls, calls.count(where: \.failed) * 2 >= calls.count else {
      return
    }
    openUntil = now + pause
    calls = []
  }
}
