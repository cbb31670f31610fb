import AttributionQueue
import RedisClient
import RedisTestSupport
import Testing

@testable import UpstreamPacing
@testable import asa_token_broker

@Suite("Permission for calls to Apple")
struct AppleCallGateTests {
  /// The breaker opens at the first failure, for a twentieth of a second at most.
  private static let rule = CircuitBreaker.Rule(minCalls: 1, firstPause: 20, maxPause: 50, jitter: 0)

  private func gate(_ redis: RedisClient) async throws -> AppleCallGate {
    let concurrency = SharedConcurrency(redis: redis, key: "{a}:concurrency", instance: "a", total: 4, maxShare: 4, onOutage: .refuses)
    await concurrency.adjust()
    return AppleCallGate(
      breaker: SharedCircuitBreaker(redis: redis, key: "{a}:breaker", rule: Self.rule),
      rate: SharedRateLimit(
        redis: redis, key: "{a}:rate", rule: try #require(RateRule(perSecond: 1000, burst: 1000)), onOutage: .refuses),
      concurrency: concurrency)
  }

  /// A call that fails; the token waits for Apple's recovery.
  private func fail(_ gate: AppleCallGate, _ token: DeliveryID) async throws {
    #expect(await gate.admit(1) == .some(1))
    let permit = try #require(gate.begin())
    gate.addWaitingRetry(token)
    #expect(await gate.end(permit, .failed).isEmpty)
    #expect(gate.phase == .open)
  }

  @Test("while other tokens wait until Apple's Retry-After is over, no failed token is taken for a probe, however long that lasts")
  func held() async throws {
    try await withRedis { redis, _ in
      let gate = try await gate(redis)
      let token = try #require(DeliveryID("007-" + String(repeating: "0", count: 32)))
      try await fail(gate, token)
      await gate.hold(for: .seconds(600))
      // Another token asks, first while the breaker is open, then during the hold.
      var wait = Duration.zero
      while wait < .seconds(60) {
        guard case .wait(let time) = await gate.admit(1) else {
          Issue.record("a call was admitted")
          return
        }
        wait = time
        try await Task.sleep(for: min(wait, .milliseconds(100)))
      }
      try await Task.sleep(for: .milliseconds(Self.rule.maxPause * 2))
      #expect(gate.tokenForTestCall() == nil)
    }
  }

  @Test("if no other token asks for longer than the breaker's pause, a failed one is the probe, once")
  func alone() async throws {
    try await withRedis { redis, _ in
      let gate = try await gate(redis)
      let token = try #require(DeliveryID("007-" + String(repeating: "0", count: 32)))
      try await fail(gate, token)
      try await Task.sleep(for: .milliseconds(Self.rule.maxPause * 2))
      #expect(gate.tokenForTestCall() == token)
      #expect(gate.tokenForTestCall() == nil)
    }
  }
}
