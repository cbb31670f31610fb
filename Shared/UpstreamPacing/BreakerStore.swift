import RedisClient

/// The breaker in Redis, in three keys of one slot. The scripts apply the rules of ``CircuitBreaker``, by Redis' clock. All methods return
/// nil if Redis does not reply.
struct BreakerStore: Sendable {
  /// The reply of a script.
  struct Reply: Sendable, Hashable {
    var state: SharedBreakerView.SharedState
    /// Redis' time in milliseconds.
    var now: Int64
    /// The number of the caller's probe; nil if it got no permission.
    var probe: Int64?
  }

  /// The time after their last change until the keys expire, in milliseconds.
  private static let timeToLive: Int64 = 86_400_000

  private let redis: RedisClient
  private let rule: CircuitBreaker.Rule
  private let keys: (state: String, results: String, probes: String)

  init(redis: RedisClient, key: String, rule: CircuitBreaker.Rule) {
    self.redis = redis
    self.rule = rule
    keys = (key, key + ":results", key + ":probes")
  }

  /// Reports results of calls that were admitted in a period in which the breaker was closed.
  ///
  /// - Parameter shortening: the part of a pause by which it is shortened if it begins now, from 0 to 1.
  func count(_ report: SharedBreakerView.Report, shortening: Double) async -> Reply? {
    await run(
      Scripts.breakerCount, [keys.state, keys.results, keys.probes],
      [
        .integer(report.period), .integer(Int64(report.succeeded)), .integer(Int64(report.failed)), .integer(rule.window),
        .integer(rule.window / Int64(CircuitBreaker.slotCount)), .integer(Int64(rule.minCalls)), .string("\(rule.failureShare)"),
        .integer(rule.firstPause), .string("\(shortening)"), .integer(Self.timeToLive),
      ])
  }

  /// Asks for permission to probe.
  func probe() async -> Reply? {
    await run(
      Scripts.breakerProbe, [keys.state, keys.probes],
      [.integer(Int64(rule.probes)), .integer(rule.probeTimeout), .integer(Self.timeToLive)])
  }

  /// Reports the result of a probe.
  func end(_ number: Int64, period: Int64, _ result: CircuitBreaker.Result, shortening: Double) async -> Reply? {
    let resultName =
      switch result {
      case .succeeded: "succeeded"
      case .failed: "failed"
      case .abandoned: "abandoned"
      }
    return await run(
      Scripts.breakerProbeEnd, [keys.state, keys.results, keys.probes],
      [
        .integer(number), .integer(period), .string(resultName), .integer(Int64(rule.probes)), .integer(rule.firstPause),
        .integer(rule.maxPause), .string("\(shortening)"), .integer(Self.timeToLive),
      ])
  }

  private func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument]) async -> Reply? {
    let reply = try? await script.run(on: redis, keys: keys, arguments: arguments, timeout: SharedRateLimit.storeTimeout)
    guard let values = reply?.array?.compactMap(\.integer), values.count >= 4, let phase = Self.phases[values[0]] else { return nil }
    return Reply(
      state: .init(phase: phase, period: values[1], wait: values[2]), now: values[3],
      probe: values.count > 4 && values[4] > 0 ? values[4] : nil)
  }

  /// The phases by the numbers that the scripts return.
  private static let phases: [Int64: CircuitBreaker.Phase] = [0: .closed, 1: .halfOpen, 2: .open]
}
