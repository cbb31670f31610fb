import TestSupport
import Testing
import UpstreamPacing

@Suite("Circuit breaker")
struct CircuitBreakerTests {
  let rule = CircuitBreaker.Rule(window: 20_000, minCalls: 10, firstPause: 2000, maxPause: 10_000, jitter: 0, probes: 1)

  /// Makes one call with a given result. Returns the wait, or nil if the call was admitted.
  @discardableResult
  func call(_ breaker: inout CircuitBreaker, _ result: CircuitBreaker.Result, at now: Int64, chance: Double = 0) -> Int64? {
    switch breaker.admit(now: now) {
    case .wait(let wait): return wait
    case .call(let permit):
      breaker.record(permit, result, now: now, chance: chance)
      return nil
    }
  }

  @Test("it opens at the share of failures, and not before enough calls were made")
  func opens() {
    var breaker = CircuitBreaker(rule)
    for _ in 1...4 { call(&breaker, .succeeded, at: 0) }
    for _ in 1...3 { call(&breaker, .failed, at: 0) }
    call(&breaker, .abandoned, at: 0)
    #expect(breaker.phase == .closed)
    call(&breaker, .succeeded, at: 0)
    call(&breaker, .failed, at: 0)
    // There were nine calls and four failures. The next one makes it half of ten.
    #expect(breaker.phase == .closed)
    call(&breaker, .failed, at: 0)
    #expect(breaker.phase == .open)
    #expect(call(&breaker, .succeeded, at: 0) == 2000)
    #expect(call(&breaker, .succeeded, at: 1999) == 1)
    #expect(call(&breaker, .succeeded, at: 2000) == nil)
    #expect(breaker.phase == .closed)
  }

  @Test("results older than the window do not count")
  func window() {
    var breaker = CircuitBreaker(rule)
    for _ in 1...9 { call(&breaker, .failed, at: 0) }
    call(&breaker, .failed, at: 20_000)
    #expect(breaker.phase == .closed)
    for _ in 1...9 { call(&breaker, .failed, at: 21_000) }
    #expect(breaker.phase == .open)
  }

  @Test("each failed probe doubles the pause up to its maximum, and a successful one resets it")
  func pauses() {
    var breaker = CircuitBreaker(rule)
    for _ in 1...10 { call(&breaker, .failed, at: 0) }
    var now: Int64 = 0
    for pause: Int64 in [2000, 4000, 8000, 10_000, 10_000] {
      #expect(call(&breaker, .failed, at: now) == pause)
      now += pause
      #expect(call(&breaker, .failed, at: now) == nil)
      #expect(breaker.phase == .open)
    }
    now += 10_000
    call(&breaker, .succeeded, at: now)
    for _ in 1...10 { call(&breaker, .failed, at: now) }
    #expect(call(&breaker, .failed, at: now) == 2000)
  }

  @Test("during a probe no other call is admitted, and a probe without a result is replaced")
  func silentProbe() throws {
    var breaker = CircuitBreaker(rule)
    for _ in 1...10 { call(&breaker, .failed, at: 0) }
    guard case .call(let probe) = breaker.admit(now: 2000) else {
      Issue.record("no probe")
      return
    }
    #expect(probe.isProbe)
    #expect(call(&breaker, .succeeded, at: 2001) == 250)
    #expect(breaker.phase == .halfOpen)
    #expect(call(&breaker, .succeeded, at: 31_999) == 250)
    guard case .call(let next) = breaker.admit(now: 32_000) else {
      Issue.record("the silent probe keeps its place")
      return
    }
    // The late result of the replaced probe does not count.
    breaker.record(probe, .failed, now: 32_001)
    #expect(breaker.phase == .halfOpen)
    breaker.record(next, .succeeded, now: 32_002)
    #expect(breaker.phase == .closed)
  }

  @Test("a call that began before it opened neither closes nor prolongs it")
  func late() {
    var breaker = CircuitBreaker(rule)
    guard case .call(let early) = breaker.admit(now: 0) else {
      Issue.record("not let through")
      return
    }
    for _ in 1...10 { call(&breaker, .failed, at: 0) }
    guard case .call(let probe) = breaker.admit(now: 2000) else {
      Issue.record("no probe")
      return
    }
    breaker.record(early, .succeeded, now: 2001)
    #expect(breaker.phase == .halfOpen)
    breaker.record(early, .failed, now: 2001)
    #expect(breaker.phase == .halfOpen)
    breaker.record(probe, .succeeded, now: 2002)
    breaker.record(probe, .failed, now: 2002)
    #expect(breaker.phase == .closed)
  }

  @Test("an abandoned probe makes room for another one; several probes must all succeed")
  func probes() {
    var breaker = CircuitBreaker(.init(firstPause: 1000, jitter: 0, probes: 2))
    for _ in 1...10 { call(&breaker, .failed, at: 0) }
    call(&breaker, .abandoned, at: 1000)
    call(&breaker, .succeeded, at: 1000)
    #expect(breaker.phase == .halfOpen)
    call(&breaker, .succeeded, at: 1000)
    #expect(breaker.phase == .closed)
  }

  @Test("jitter only shortens the pause, at most by its share")
  func jitter() {
    for chance in [0.0, 0.5, 0.999, 7] {
      var breaker = CircuitBreaker(.init(firstPause: 1000, jitter: 0.4))
      for _ in 1...10 { call(&breaker, .failed, at: 0, chance: chance) }
      let wait = call(&breaker, .failed, at: 0) ?? 0
      #expect(wait == 1000 - Int64(400 * min(chance, 1)))
    }
  }

  @Test("for any sequence, a half-open breaker admits only its probes, and always probes again")
  func properties() {
    var random = SeededRandom("circuit breaker")
    for _ in 0..<200 {
      let rule = CircuitBreaker.Rule(
        window: .random(in: 20...5000, using: &random), minCalls: .random(in: 1...12, using: &random),
        failureShare: .random(in: 0.1...1, using: &random), firstPause: .random(in: 1...3000, using: &random),
        maxPause: .random(in: 1...9000, using: &random), jitter: .random(in: 0...1, using: &random),
        probes: .random(in: 1...4, using: &random), probeTimeout: .random(in: 1...4000, using: &random))
      var breaker = CircuitBreaker(rule)
      var now: Int64 = 0
      var running: [CircuitBreaker.Permit] = []
      for _ in 0..<300 {
        now += .random(in: 0...400, using: &random)
        switch breaker.admit(now: now) {
        case .call(let permit):
          running.append(permit)
          #expect(permit.isProbe == (breaker.phase == .halfOpen))
        case .wait(let wait):
          #expect(wait >= 1 && wait <= max(rule.maxPause, 250))
          #expect(breaker.phase != .closed)
        }
        while let permit = running.randomElement(using: &random), Bool.random(using: &random) {
          running.removeAll { $0 == permit }
          let result = [CircuitBreaker.Result.succeeded, .failed, .abandoned].randomElement(using: &random)!
          breaker.record(permit, result, now: now, chance: .random(in: 0..<1, using: &random))
        }
      }
      // All calls have ended: after the longest pause a probe is admitted, and the required number of successes closes it.
      for permit in running { breaker.record(permit, .abandoned, now: now) }
      now += rule.maxPause + rule.probeTimeout
      if case .wait(let wait) = breaker.admit(now: now) { now += max(wait, rule.maxPause) }
      for _ in 0..<rule.probes + 1 { call(&breaker, .succeeded, at: now) }
      #expect(breaker.phase != .open)
    }
  }
}
