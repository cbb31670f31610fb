import RedisClient

/// The breaker in Redis: a ``CircuitBreaker`` that uses Redis' clock, in three keys of one slot.
struct BreakerStore: Sendable {
  /// The reply of a script.
  struct Reply: Sendable, Hashable {
    var state: SharedBreakerView.SharedState
    /// Redis' time, milliseconds.
    var now: Int64
    /// The number of the caller's probe.
    var probe: Int64?
  }

  /// How long the keys live after their last change, milliseconds.
  private static let lifetime: Int64 = 86_400_000

  private let redis: RedisClient
  private let rule: CircuitBreaker.Rule
  private let keys: (state: String, results: String, probes: String)

  init(redis: RedisClient, key: String, rule: CircuitBreaker.Rule) {
    self.redis = redis
    self.rule = rule
    keys = (key, key + ":results", key + ":probes")
  }

  /// Reports results of calls that were admitted in a period in which the breaker was closed. Returns nil if Redis does not answer, as the
  /// other methods do.
  ///
  /// - Parameter shortening: the share by which a pause that begins here is shortened, from 0 to 1.
  func count(_ report: SharedBreakerView.Report, shortening: Double) async -> Reply? {
    await ask(
      Scripts.breakerCount, [keys.state, keys.results, keys.probes],
      [
        .integer(report.period), .integer(Int64(report.succeeded)), .integer(Int64(report.failed)), .integer(rule.window),
        .integer(rule.window / Int64(CircuitBreaker.slotCount)), .integer(Int64(rule.minCalls)), .string("\(rule.failureShare)"),
        .integer(rule.firstPause), .string("\(shortening)"), .integer(Self.lifetime),
      ])
  }

  /// Asks for permission to probe.
  func probe() async -> Reply? {
    await ask(
      Scripts.breakerProbe, [keys.state, keys.probes],
      [.integer(Int64(rule.probes)), .integer(rule.probePatience), .integer(Self.lifetime)])
  }

  /// Reports the result of a probe.
  func end(_ number: Int64, period: Int64, _ result: CircuitBreaker.Result, shortening: Double) async -> Reply? {
    let word =
      switch result {
      case .succeeded: "succeeded"
      case .failed: "failed"
      case .abandoned: "abandoned"
      }
    return await ask(
      Scripts.breakerProbeEnd, [keys.state, keys.results, keys.probes],
      [
        .integer(number), .integer(period), .string(word), .integer(Int64(rule.probes)), .integer(rule.firstPause),
        .integer(rule.maxPause), .string("\(shortening)"), .integer(Self.lifetime),
      ])
  }

  private func ask(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument]) async -> Reply? {
    let reply = try? await script.run(on: redis, keys: keys, arguments: arguments, timeout: SharedRateLimit.storeTimeout)
    guard let values = reply?.array?.compactMap(\.integer), values.count >= 4, let phase = Self.phases[values[0]] else { return nil }
    return Reply(
      state: .init(phase: phase, period: values[1], wait: values[2]), now: values[3],
      probe: values.count > 4 && values[4] > 0 ? values[4] : nil)
  }

  private static let phases: [Int64: CircuitBreaker.Phase] = [0: .closed, 1: .halfOpen, 2: .open]
}
