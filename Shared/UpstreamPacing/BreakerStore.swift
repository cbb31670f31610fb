import RedisClient

/// The breaker in Redis: a ``CircuitBreaker`` by Redis' own clock, in three keys of one slot.
struct BreakerStore: Sendable {
  /// What a script answered.
  struct Answer: Sendable, Hashable {
    var standing: SharedBreakerView.Standing
    /// Redis' time, milliseconds.
    var now: Int64
    /// The number of the caller's probe.
    var probe: Int64?
  }

  /// How long it is remembered after its last change, milliseconds.
  private static let remembered: Int64 = 86_400_000

  private let redis: RedisClient
  private let rule: CircuitBreaker.Rule
  private let keys: (state: String, results: String, probes: String)

  init(redis: RedisClient, key: String, rule: CircuitBreaker.Rule) {
    self.redis = redis
    self.rule = rule
    keys = (key, key + ":results", key + ":probes")
  }

  /// Takes in results of calls that were let through in a period in which the breaker was closed. Nil without an answer, as the others.
  ///
  /// - Parameter shortening: by what share of itself a pause that begins here is shortened.
  func count(_ report: SharedBreakerView.Report, shortening: Double) async -> Answer? {
    await ask(
      Scripts.breakerCount, [keys.state, keys.results, keys.probes],
      [
        .integer(report.period), .integer(Int64(report.succeeded)), .integer(Int64(report.failed)), .integer(rule.window),
        .integer(rule.window / Int64(CircuitBreaker.slotCount)), .integer(Int64(rule.leastCalls)), .string("\(rule.failureShare)"),
        .integer(rule.firstPause), .string("\(shortening)"), .integer(Self.remembered),
      ])
  }

  /// Asks for leave to probe.
  func probe() async -> Answer? {
    await ask(
      Scripts.breakerProbe, [keys.state, keys.probes],
      [.integer(Int64(rule.probes)), .integer(rule.probePatience), .integer(Self.remembered)])
  }

  /// Takes in what became of a probe.
  func end(_ number: Int64, period: Int64, _ result: CircuitBreaker.Result, shortening: Double) async -> Answer? {
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
        .integer(rule.longestPause), .string("\(shortening)"), .integer(Self.remembered),
      ])
  }

  private func ask(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument]) async -> Answer? {
    let reply = try? await script.run(on: redis, keys: keys, arguments: arguments, timeout: SharedRateLimit.storeTimeout)
    guard let values = reply?.array?.compactMap(\.integer), values.count >= 4, let phase = Self.phases[values[0]] else { return nil }
    return Answer(
      standing: .init(phase: phase, period: values[1], wait: values[2]), now: values[3],
      probe: values.count > 4 && values[4] > 0 ? values[4] : nil)
  }

  private static let phases: [Int64: CircuitBreaker.Phase] = [0: .closed, 1: .halfOpen, 2: .open]
}
